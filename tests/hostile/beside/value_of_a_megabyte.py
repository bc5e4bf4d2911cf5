# place: value_source
# message: must return a finite float
# slow: yes


def value_function(state, agent, steps):
    return "x" * 1_000_000
