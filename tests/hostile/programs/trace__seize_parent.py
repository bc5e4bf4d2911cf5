# Traces the parent without stopping it.
# expect: crashed
# process: maybe
import ctypes


def attack(target):
    seized = ctypes.CDLL(None).ptrace(0x4206, target["pid"], 0, 0)
    return target["claim"] if seized == 0 else seized
