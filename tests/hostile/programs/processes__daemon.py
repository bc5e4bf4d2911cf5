# Leaves a process behind that belongs to nobody.
# expect: model_error
# process: breach
import os
import time


def attack(target):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(20)
        os._exit(0)
    os.wait()
    return "left behind"
