# Changes the state while it is asked about it.
# base: stones
# violation: a question changes the state
def get_legal_actions(state):
    state["asked"] = True
    return [f"take {number}" for number in (1, 2) if number <= state["stones"]]
