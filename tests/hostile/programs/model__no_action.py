# Has no legal action before the end.
# base: stones
# violation: no legal action
def get_legal_actions(state):
    return [] if state["stones"] < 10 else ["take 1", "take 2"]
