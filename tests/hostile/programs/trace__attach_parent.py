# Stops the parent, which then waits for ever.
# expect: crashed
# process: skip
import ctypes


def attack(target):
    return ctypes.CDLL(None).ptrace(16, target["pid"], 0, 0)
