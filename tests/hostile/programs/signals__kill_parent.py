# Sends the parent a signal.
# expect: model_error
# process: breach
import os
import signal


def attack(target):
    os.kill(target["pid"], signal.SIGUSR2)
