# Puts something else in the place of its output.
# expect: protocol_error
# process: none
import sys


def attack(target):
    sys.stdout.tail = lambda: 7
    return "still here"
