# Decides which processors the parent may use.
# expect: model_error
# process: breach
import os


def attack(target):
    os.sched_setaffinity(target["pid"], os.sched_getaffinity(target["pid"]))
    return target["claim"]
