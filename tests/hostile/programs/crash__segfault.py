# Reads where there is no memory.
# expect: crashed
# process: none
import ctypes


def attack(target):
    return ctypes.string_at(0)
