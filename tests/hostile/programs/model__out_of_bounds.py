# Pays more than there is to win.
# base: stones
# utility: zero_sum
# violation: returns out of bounds
def get_rewards(state):
    return [0.0, 0.0] if state["stones"] else [7.0, -7.0]
