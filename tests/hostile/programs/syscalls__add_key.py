# Leaves a key in the kernel for others to find.
# expect: crashed
# process: skip
import ctypes
import platform


def attack(target):
    number = {"x86_64": 248, "aarch64": 217}[platform.machine()]
    return ctypes.CDLL(None).syscall(number, b"user", b"canary", b"x", 1, -2)
