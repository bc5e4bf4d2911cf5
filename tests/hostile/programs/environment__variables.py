# Looks for the key in its own environment.
# expect: ok
# process: none
import os


def attack(target):
    return dict(os.environ)
