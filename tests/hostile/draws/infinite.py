# field: chance
# message: expected a probability above 0, got inf


def initial_state(choose):
    return choose("coin", [(0, float("inf")), (1, 0.5)])
