# Opens a socket with the system call itself.
# expect: ok
# process: maybe
import ctypes


def attack(target):
    opened = ctypes.CDLL(None).syscall(41, 2, 1, 0)
    return target["claim"] if opened >= 0 else opened
