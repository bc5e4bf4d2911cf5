# Kills itself with the signal that the parent would use.
# expect: model_error
# process: none
import os


def attack(target):
    os.kill(os.getpid(), 9)
