# Leaves the group that is killed as a whole.
# expect: model_error
# process: breach
import os
import time


def attack(target):
    if os.fork() == 0:
        os.setsid()
        time.sleep(20)
        os._exit(0)
    time.sleep(0.2)
    return "gone"
