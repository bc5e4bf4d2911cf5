# Blocks every signal, and never ends.
# expect: wall_timeout
# process: none
# limit: 0.3
import signal


def attack(target):
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    while True:
        pass
