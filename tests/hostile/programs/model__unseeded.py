# Draws from a source that nobody seeds.
# base: stones
# violation: rewards is not deterministic
import random


def get_rewards(state):
    if state["stones"]:
        return [0.0, 0.0]
    value = random.SystemRandom().random()
    return [value, -value]
