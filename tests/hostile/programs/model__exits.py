# Leaves in one state.
# base: stones
# violation: apply_action raises
def apply_action(state, action):
    if state["stones"] < 30:
        raise SystemExit(0)
    return dict(state, stones=state["stones"] - 1, player=1 - state["player"], moves=state["moves"] + 1)
