# Has a million legal actions.
# base: stones
# wall: 1
# violation: wall_timeout
def get_legal_actions(state):
    return [f"take {number}" for number in range(1_000_000)] if state["stones"] else []
