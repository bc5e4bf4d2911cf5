# Lists outcomes of chance where a player is to move.
# base: coin
# violation: chance_outcomes at a player's node
def get_chance_outcomes(state):
    return [("heads", 0.75), ("tails", 0.25)]
