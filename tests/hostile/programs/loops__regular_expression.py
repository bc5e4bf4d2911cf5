# Never ends in a regular expression.
# expect: wall_timeout
# process: none
# limit: 0.3
import re


def attack(target):
    return re.match("(a+)+$", "a" * 60 + "b") is None
