# Opens a file with the number that the call has in another table.
# expect: crashed ok
# process: none
import ctypes
import platform


def attack(target):
    number = {"x86_64": 257, "aarch64": 56}[platform.machine()]
    opened = ctypes.CDLL(None).syscall(0x40000000 | number, -100, target["secret_file"].encode(), 0, 0)
    return target["claim"] if opened >= 0 else opened
