# place: value_source
# message: no answer in time
# ends: timeout
# slow: yes


def value_function(state, agent, steps):
    while True:
        pass
