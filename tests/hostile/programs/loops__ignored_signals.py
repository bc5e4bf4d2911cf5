# Ignores every signal that can be ignored, and never ends.
# expect: wall_timeout
# process: none
# limit: 0.3
import signal


def attack(target):
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            continue
    while True:
        pass
