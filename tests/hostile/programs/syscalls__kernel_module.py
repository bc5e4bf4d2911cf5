# Loads a module into the kernel.
# expect: crashed
# process: skip
import ctypes
import platform


def attack(target):
    number = {"x86_64": 313, "aarch64": 273}[platform.machine()]
    return ctypes.CDLL(None).syscall(number, -1, b"", 0)
