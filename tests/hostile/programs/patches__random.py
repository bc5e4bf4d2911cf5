# Replaces the functions of random.
# expect: ok
# process: none
import random

random.seed = random.Random = random.random = None


def attack(target):
    return "still here"
