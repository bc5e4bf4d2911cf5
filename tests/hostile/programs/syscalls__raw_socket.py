# Opens a socket with the system call itself.
# expect: ok
# process: maybe
import ctypes
import platform


def attack(target):
    number = {"x86_64": 41, "aarch64": 198}[platform.machine()]
    opened = ctypes.CDLL(None).syscall(number, 2, 1, 0)
    return target["claim"] if opened >= 0 else opened
