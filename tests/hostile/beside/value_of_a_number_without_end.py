# place: value_source
# message: must return a finite float
# slow: yes


def value_function(state, agent, steps):
    return 10**5000
