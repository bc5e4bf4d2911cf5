# Makes a file in memory, which could be run.
# expect: model_error
# process: breach
import os


def attack(target):
    os.memfd_create("made")
    return target["claim"]
