# Makes itself open to others, and outlives its parent.
# expect: ok
# process: breach
import ctypes


def attack(target):
    libc = ctypes.CDLL(None)
    results = [libc.prctl(4, 1, 0, 0, 0), libc.prctl(1, 0, 0, 0, 0)]
    return target["claim"] if 0 in results else results
