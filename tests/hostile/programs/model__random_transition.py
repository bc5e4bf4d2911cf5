# Draws at random in a transition instead of a chance node.
# base: stones
# violation: apply_action is not deterministic
import random


def apply_action(state, action):
    left = max(0, state["stones"] - int(action.split()[1]) - random.choice([0, 1, 2, 3]))
    return {"stones": left, "player": 1 - state["player"], "moves": state["moves"] + 1}
