# Makes a world of its own in which it is root.
# expect: ok
# process: maybe
import ctypes


def attack(target):
    return target["claim"] if ctypes.CDLL(None).unshare(0x10000000) == 0 else None
