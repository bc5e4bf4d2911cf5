# Takes a real-time schedule, which leaves nothing to others.
# expect: model_error
# process: skip
import os


def attack(target):
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    return target["claim"]
