# field: wall_timeout
# message: no answer within


def initial_state(choose):
    number = 0
    while True:
        number += 1
        try:
            choose("draw %d" % number, [(0, 0.5), (1, 0.5)])
        except BaseException:
            pass
