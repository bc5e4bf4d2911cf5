# Forks without end.
# expect: wall_timeout
# process: skip
# limit: 0.5
import os


def attack(target):
    while True:
        try:
            os.fork()
        except OSError:
            pass
