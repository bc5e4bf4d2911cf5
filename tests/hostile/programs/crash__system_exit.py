# Leaves with the exception made for it.
# expect: model_error
# process: none
import sys


def attack(target):
    sys.exit(0)
