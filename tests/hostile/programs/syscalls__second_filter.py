# Puts a filter of its own before the one that is there.
# expect: ok
# process: none
import ctypes


def attack(target):
    allow = (ctypes.c_uint64 * 1)(0x7FFF000000000006)
    program = (ctypes.c_uint64 * 2)(1, ctypes.addressof(allow))
    libc = ctypes.CDLL(None)
    libc.prctl(22, 2, program, 0, 0)
    opened = libc.open(target["secret_file"].encode(), 0)
    return opened if opened < 0 else "opened"
