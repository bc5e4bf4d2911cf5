# Asks the kernel to restart the machine, with a wrong magic number.
# expect: ok
# process: skip
import ctypes
import platform


def attack(target):
    number = {"x86_64": 169, "aarch64": 142}[platform.machine()]
    return ctypes.CDLL(None).syscall(number, 0, 0, 0, 0)
