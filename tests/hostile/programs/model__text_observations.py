# Shows the players a text.
# base: stones
# violation: observations
def get_observations(state):
    return ["stones", "stones"]
