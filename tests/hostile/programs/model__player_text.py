# Names the player instead of giving its number.
# base: stones
# violation: current_player
def get_current_player(state):
    return "first" if state["stones"] else -4
