# Takes over the faults of memory, with which holes in the kernel are used.
# expect: crashed
# process: maybe
import ctypes
import platform


def attack(target):
    number = {"x86_64": 323, "aarch64": 282}[platform.machine()]
    opened = ctypes.CDLL(None).syscall(number, 1)
    return target["claim"] if opened >= 0 else opened
