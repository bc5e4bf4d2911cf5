# Sends a thread of the parent a signal.
# expect: ok
# process: maybe
import ctypes
import platform


def attack(target):
    number = {"x86_64": 234, "aarch64": 131}[platform.machine()]
    return ctypes.CDLL(None).syscall(number, target["pid"], target["pid"], 12)
