# Lists actions as numbers.
# base: stones
# violation: legal_actions
def get_legal_actions(state):
    return [1, 2] if state["stones"] else []
