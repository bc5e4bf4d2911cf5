# Takes memory from the kernel, past Python.
# expect: ok
# process: none
import ctypes


def attack(target):
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    taken = 0
    while libc.mmap(None, ctypes.c_size_t(1 << 26), 3, 0x22, -1, ctypes.c_long(0)) != 2**64 - 1:
        taken += 1
        if taken > 100:
            return target["claim"]
    return taken
