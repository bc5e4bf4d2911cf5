# Ends every process of the user.
# expect: model_error
# process: skip
import os


def attack(target):
    os.kill(-1, 9)
