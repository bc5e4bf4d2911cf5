# Has chance move in a game without chance.
# base: stones
# violation: current_player
def get_current_player(state):
    return -1 if state["stones"] else -4
