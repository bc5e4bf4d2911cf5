# place: value_source
# message: must return a finite float, got inf
# slow: yes


def value_function(state, agent, steps):
    return float("inf")
