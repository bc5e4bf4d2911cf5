# Takes all memory in one state.
# base: stones
# wall: 10
# violation: rewards raises
def get_rewards(state):
    if state["stones"] < 30:
        return [0.0] * 10**12
    return [0.0, 0.0]
