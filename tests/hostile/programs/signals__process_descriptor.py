# Sends the parent a signal through a descriptor of it.
# expect: model_error
# process: breach
import os
import signal


def attack(target):
    signal.pidfd_send_signal(os.pidfd_open(target["pid"]), signal.SIGUSR2)
