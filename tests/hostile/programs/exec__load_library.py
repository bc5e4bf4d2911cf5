# Loads a library that is not loaded yet.
# expect: model_error
# process: breach
import ctypes


def attack(target):
    ctypes.CDLL("libutil.so.1")
    return target["claim"]
