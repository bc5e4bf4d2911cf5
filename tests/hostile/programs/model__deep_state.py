# Nests the state deeper and deeper.
# base: stones
# violation: apply_action raises
def apply_action(state, action):
    left = state["stones"] - int(action.split()[1])
    inner = []
    for _ in range(1000):
        inner = [inner]
    return {"stones": left, "player": 1 - state["player"], "moves": state["moves"] + 1, "inner": inner}
