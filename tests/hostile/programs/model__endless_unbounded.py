# Never ends, and nobody knows how long it may be.
# base: stones
# max_length: none
# wall: 1
# violation: wall_timeout
def apply_action(state, action):
    return dict(state, player=1 - state["player"], moves=state["moves"] + 1)
