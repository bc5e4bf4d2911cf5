# Has outcomes of chance that are not legal.
# base: coin
# violation: chance_outcomes differ from legal_actions
def get_chance_outcomes(state):
    return [("heads", 0.75), ("edge", 0.25)] if state["coin"] is None else []
