# Lists an action twice.
# base: stones
# violation: legal_actions repeats an action
def get_legal_actions(state):
    return ["take 1", "take 1"] if state["stones"] else []
