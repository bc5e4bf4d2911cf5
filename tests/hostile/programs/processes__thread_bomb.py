# Starts threads without end.
# expect: wall_timeout
# process: skip
# limit: 0.5
import _thread
import time


def attack(target):
    while True:
        try:
            _thread.start_new_thread(time.sleep, (60,))
        except RuntimeError:
            pass
