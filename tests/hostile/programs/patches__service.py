# Replaces the worker's own function for answers.
# expect: wall_timeout
# process: none
# limit: 0.3
import sys


def attack(target):
    sys.modules["cwm.sandbox.worker.service"].WorkerService.send = lambda *arguments: None
    sys.modules["cwm.sandbox.worker.service"].normalise = lambda value: "forged"
    return "real"
