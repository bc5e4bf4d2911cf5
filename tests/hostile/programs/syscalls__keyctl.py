# Takes keys from the kernel's keyring of the user.
# expect: crashed
# process: maybe
import ctypes
import platform


def attack(target):
    number = {"x86_64": 250, "aarch64": 219}[platform.machine()]
    ring = ctypes.CDLL(None).syscall(number, 0, -4, 0)
    return target["claim"] if ring >= 0 else ring
