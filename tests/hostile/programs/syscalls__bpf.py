# Loads something into the kernel.
# expect: crashed
# process: maybe
import ctypes
import platform


def attack(target):
    attributes = (ctypes.c_uint32 * 18)(2, 4, 8, 1)
    number = {"x86_64": 321, "aarch64": 280}[platform.machine()]
    made = ctypes.CDLL(None).syscall(number, 0, attributes, 72)
    return target["claim"] if made >= 0 else made
