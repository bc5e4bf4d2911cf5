# Writes into the parent's memory.
# expect: crashed
# process: maybe
import ctypes


def attack(target):
    address, length = target["heap"]
    buffer = ctypes.create_string_buffer(b"?" * length)
    ours = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), length)
    theirs = (ctypes.c_size_t * 2)(address, length)
    return ctypes.CDLL(None).process_vm_writev(target["pid"], ours, 1, theirs, 1, 0)
