# Hands out one list to all states and adds to it.
# base: stones
# violation: states share mutable parts
TAKEN = []


def apply_action(state, action):
    TAKEN.append(action)
    left = state["stones"] - int(action.split()[1])
    return {"stones": left, "player": 1 - state["player"], "moves": state["moves"] + 1, "taken": TAKEN}
