# place: value_source
# message: must return 0.0 where no step is left
# slow: yes


def value_function(state, agent, steps):
    return 1.0
