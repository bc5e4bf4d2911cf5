# Forks with the system call itself.
# expect: ok
# process: maybe
import ctypes
import os


def attack(target):
    pid = ctypes.CDLL(None).syscall(56, 17, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    return target["claim"] if pid > 0 else pid
