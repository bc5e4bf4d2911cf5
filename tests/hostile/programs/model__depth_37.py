# Fails at the thirty-seventh action, and there alone.
# base: stones
# violation: apply_action raises
def apply_action(state, action):
    if state["moves"] == 36:
        raise KeyError("the thirty-seventh action")
    left = state["stones"] - int(action.split()[1])
    return {"stones": left, "player": 1 - state["player"], "moves": state["moves"] + 1}
