# Has the kernel hand over a descriptor of the parent.
# expect: ok
# process: maybe
import ctypes


def attack(target):
    libc = ctypes.CDLL(None)
    process = libc.syscall(434, target["pid"], 0)
    taken = libc.syscall(438, process, 0, 0)
    return target["claim"] if process >= 0 and taken >= 0 else [process, taken]
