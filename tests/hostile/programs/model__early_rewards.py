# Pays before anything was done.
# base: stones
# violation: rewards before any action
def get_rewards(state):
    return [0.5, -0.5]
