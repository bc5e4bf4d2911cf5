# Has states of a megabyte.
# base: stones
# wall: 1
# violation: wall_timeout
def apply_action(state, action):
    left = state["stones"] - int(action.split()[1])
    return {"stones": left, "player": 1 - state["player"], "moves": state["moves"] + 1, "ballast": "x" * 1_000_000}
