# Makes a ring through which files can be opened without system calls.
# expect: crashed
# process: maybe
import ctypes


def attack(target):
    ring = ctypes.CDLL(None).syscall(425, 4, ctypes.create_string_buffer(120))
    return target["claim"] if ring >= 0 else ring
