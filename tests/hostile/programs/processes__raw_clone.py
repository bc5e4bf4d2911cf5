# Forks with the system call itself.
# expect: ok
# process: maybe
import ctypes
import os
import platform


def attack(target):
    number = {"x86_64": 56, "aarch64": 220}[platform.machine()]
    pid = ctypes.CDLL(None).syscall(number, 17, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    return target["claim"] if pid > 0 else pid
