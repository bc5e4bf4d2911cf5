# Has itself traced, which stops it at every signal.
# expect: crashed
# process: skip
import ctypes


def attack(target):
    return ctypes.CDLL(None).ptrace(0, 0, 0, 0)
