# Ends its process in one state.
# base: stones
# violation: crashed
import os


def get_rewards(state):
    if state["stones"] < 30:
        os._exit(0)
    return [0.0, 0.0]
