# Asks for a process with the newest call for it.
# expect: ok
# process: maybe
import ctypes


def attack(target):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(435, 0, 0)
    return target["claim"] if ctypes.get_errno() == 22 else ctypes.get_errno()
