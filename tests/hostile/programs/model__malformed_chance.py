# Lists outcomes without their chances.
# base: coin
# violation: chance_outcomes
def get_chance_outcomes(state):
    return ["heads", "tails"] if state["coin"] is None else []
