# Empties the table of modules.
# expect: ok model_error crashed
# process: none
import sys


def attack(target):
    sys.modules.clear()
    return "still here"
