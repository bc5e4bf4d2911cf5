# Has chances that do not sum to one.
# base: coin
# violation: chance probabilities
def get_chance_outcomes(state):
    return [("heads", 0.75), ("tails", 0.2)] if state["coin"] is None else []
