# Never ends inside one call of C.
# expect: wall_timeout
# process: none
# limit: 0.3
import itertools


def attack(target):
    return sum(itertools.repeat(1))
