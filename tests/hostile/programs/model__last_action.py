# Keeps in a global variable who moved last, and pays by it.
# base: stones
# violation: answers depend on earlier calls
LAST = {"player": 0}


def apply_action(state, action):
    LAST["player"] = state["player"]
    left = state["stones"] - int(action.split()[1])
    return {"stones": left, "player": 1 - state["player"], "moves": state["moves"] + 1}


def get_rewards(state):
    if state["stones"]:
        return [0.0, 0.0]
    return [-1.0, 1.0] if LAST["player"] == 1 else [1.0, -1.0]
