# Has a negative chance.
# base: coin
# violation: chance probabilities
def get_chance_outcomes(state):
    return [("heads", 1.25), ("tails", -0.25)] if state["coin"] is None else []
