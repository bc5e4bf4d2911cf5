# Remembers answers under a key that does not tell states apart.
# base: stones
# violation: answers differ in another process
KNOWN = {}


def get_current_player(state):
    if not state["stones"]:
        return -4
    return KNOWN.setdefault(state["stones"], state["player"])
