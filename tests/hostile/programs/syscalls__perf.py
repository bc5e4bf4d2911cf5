# Watches the processor, and with it other processes.
# expect: crashed
# process: maybe
import ctypes
import platform


def attack(target):
    number = {"x86_64": 298, "aarch64": 241}[platform.machine()]
    attributes = (ctypes.c_uint32 * 32)(1, 128)
    opened = ctypes.CDLL(None).syscall(number, attributes, 0, -1, -1, 0)
    return target["claim"] if opened >= 0 else opened
