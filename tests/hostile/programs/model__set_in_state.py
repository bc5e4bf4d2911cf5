# Keeps a set in the state.
# base: stones
# violation: state is not JSON
def apply_action(state, action):
    left = state["stones"] - int(action.split()[1])
    return {"stones": left, "player": 1 - state["player"], "moves": state["moves"] + 1, "seen": {1, 2}}
