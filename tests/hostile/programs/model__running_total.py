# Pays the sum so far at every state instead of what the last action paid.
# base: stones
# violation: returns out of bounds
def get_rewards(state):
    return [0.0, 0.0] if state["stones"] > 10 else [1.0, -1.0]
