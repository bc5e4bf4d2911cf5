# Makes memory executable that it already has.
# expect: ok
# process: maybe
import ctypes


def attack(target):
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    address = libc.mmap(None, ctypes.c_size_t(4096), 3, 0x22, -1, ctypes.c_long(0))
    done = libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(4096), 5) == 0
    return target["claim"] if done else "refused"
