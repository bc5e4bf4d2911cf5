# Lists actions after the end.
# base: stones
# violation: legal_actions at the end
def get_legal_actions(state):
    return ["take 1"]
