# place: value_source
# message: must stay within what


def value_function(state, agent, steps):
    return 1e6 * steps
