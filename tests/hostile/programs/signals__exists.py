# Asks which processes there are, with signals that do nothing.
# expect: model_error
# process: breach
import os


def attack(target):
    os.kill(target["pid"], 0)
    return target["claim"]
