# Pays three players where there are two.
# base: stones
# violation: rewards
def get_rewards(state):
    return [0.0, 0.0, 0.0]
