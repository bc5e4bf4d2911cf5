# field: chance
# message: expected a probability above 0, got nan


def initial_state(choose):
    return choose("coin", [(0, float("nan")), (1, 0.5)])
