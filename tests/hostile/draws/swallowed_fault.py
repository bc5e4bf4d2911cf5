# field: chance
# message: they sum to 0.7


def initial_state(choose):
    try:
        choose("coin", [(0, 0.2), (1, 0.5)])
    except BaseException:
        pass
    return 0
