# Calls itself without end, after it has taken the limit away.
# expect: crashed memory_exceeded model_error
# process: none
# limit: 5
import sys


class Deep:
    def __repr__(self):
        return repr(self)


def attack(target):
    sys.setrecursionlimit(10**9)
    return repr(Deep())
