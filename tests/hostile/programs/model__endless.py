# Never ends.
# base: stones
# violation: game is too long
def apply_action(state, action):
    return dict(state, player=1 - state["player"])
