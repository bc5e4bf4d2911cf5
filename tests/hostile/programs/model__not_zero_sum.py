# Pays the winner and takes from nobody.
# base: stones
# violation: rewards are not zero-sum
def get_rewards(state):
    if state["stones"]:
        return [0.0, 0.0]
    return [0.0, 1.0] if state["player"] == 0 else [1.0, 0.0]
