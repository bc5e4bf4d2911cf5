# Pays players of one team differently.
# base: stones
# utility: identical
# violation: rewards are not identical
def get_rewards(state):
    return [0.0, 0.0] if state["stones"] else [1.0, 0.5]
