# Asks the kernel to restart the machine, with a wrong magic number.
# expect: ok
# process: skip
import ctypes


def attack(target):
    return ctypes.CDLL(None).syscall(169, 0, 0, 0, 0)
