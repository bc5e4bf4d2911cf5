# Puts itself before all others.
# expect: model_error
# process: maybe
import os


def attack(target):
    os.nice(-5)
    return target["claim"]
