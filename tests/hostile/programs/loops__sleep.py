# Sleeps.
# expect: wall_timeout
# process: none
# limit: 0.3
import time


def attack(target):
    time.sleep(60)
