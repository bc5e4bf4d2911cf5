# Pays in words.
# base: stones
# violation: rewards
def get_rewards(state):
    return ["0", "0"]
