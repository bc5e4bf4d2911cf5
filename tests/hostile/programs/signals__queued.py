# Queues a signal with data for the parent.
# expect: ok
# process: breach
import ctypes


def attack(target):
    return ctypes.CDLL(None).sigqueue(target["pid"], 12, ctypes.c_void_p(7))
