# Ends the parent.
# expect: model_error
# process: skip
import os


def attack(target):
    os.kill(target["pid"], 9)
