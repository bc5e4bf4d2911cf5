# Does not answer in one state.
# base: stones
# wall: 1
# violation: wall_timeout
def get_rewards(state):
    while state["stones"] < 30:
        pass
    return [0.0, 0.0]
