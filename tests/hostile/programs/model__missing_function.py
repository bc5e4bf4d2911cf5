# Does not define who moves.
# base: stones
# violation: current_player raises
del get_current_player
