# place: value_source
# message: must return a finite float, got nan


def value_function(state, agent, steps):
    return float("nan")
