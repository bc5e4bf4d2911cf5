# Takes the liberties that a program may take: tuples, whole numbers as rewards, chance in another order.
# base: coin
# violation: none
def get_rewards(state):
    if state["guess"] is None:
        return (0, 0)
    return (-1, 1) if state["guess"] == "guess " + state["coin"] else (1, -1)


def get_chance_outcomes(state):
    return (("tails", 0.25), ("heads", 0.75)) if state["coin"] is None else ()
