# field: chance
# message: expected a probability above 0, got -0.5


def initial_state(choose):
    return choose("coin", [(0, 1.5), (1, -0.5)])
