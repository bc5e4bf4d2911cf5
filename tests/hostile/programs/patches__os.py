# Replaces the functions with which the answer is written.
# expect: ok
# process: none
import os

os.write = os.read = os.close = None


def attack(target):
    return "still here"
