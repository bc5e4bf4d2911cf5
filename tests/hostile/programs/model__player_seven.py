# Has a player move that there is not.
# base: stones
# violation: current_player
def get_current_player(state):
    return 7 if state["stones"] == 30 else state["player"] if state["stones"] else -4
