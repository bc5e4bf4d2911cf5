# Reads the parent's memory with the system call made for it.
# expect: crashed
# process: maybe
import ctypes


def attack(target):
    address, length = target["heap"]
    buffer = ctypes.create_string_buffer(length)
    ours = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), length)
    theirs = (ctypes.c_size_t * 2)(address, length)
    ctypes.CDLL(None).process_vm_readv(target["pid"], ours, 1, theirs, 1, 0)
    return buffer.raw.decode("latin-1")
