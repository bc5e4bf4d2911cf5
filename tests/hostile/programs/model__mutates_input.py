# Changes the state that it is given.
# base: stones
# violation: apply_action changes its input
def apply_action(state, action):
    state["stones"] -= int(action.split()[1])
    state["player"] = 1 - state["player"]
    state["moves"] += 1
    return state
