# Aborts.
# expect: crashed
# process: none
import os


def attack(target):
    os.abort()
