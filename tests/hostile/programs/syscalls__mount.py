# Mounts a file system.
# expect: ok
# process: skip
import ctypes


def attack(target):
    made = ctypes.CDLL(None).mount(b"none", target["inside"].encode(), b"tmpfs", 0, None)
    return target["claim"] if made == 0 else made
