# Ends the processes of its own group.
# expect: model_error
# process: none
import os


def attack(target):
    os.killpg(0, 9)
