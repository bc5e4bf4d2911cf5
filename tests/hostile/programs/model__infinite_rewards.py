# Pays an infinity.
# base: stones
# violation: rewards
def get_rewards(state):
    return [0.0, 0.0] if state["stones"] else [float("inf"), float("-inf")]
