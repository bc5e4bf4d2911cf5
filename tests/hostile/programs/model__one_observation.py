# Shows the state to one player alone.
# base: stones
# violation: observations
def get_observations(state):
    return [{"stones": state["stones"]}]
