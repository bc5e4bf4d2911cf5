# field: chance
# message: more than 1,000 draws in one start or step


def initial_state(choose):
    number = 0
    while True:
        number += 1
        choose("draw %d" % number, [(0, 0.5), (1, 0.5)])
