# Waits for a lock that it holds.
# expect: wall_timeout
# process: none
# limit: 0.3
import threading


def attack(target):
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()
