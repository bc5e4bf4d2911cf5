# Raises all its caps with the system call itself.
# expect: ok
# process: maybe
import ctypes


def attack(target):
    libc = ctypes.CDLL(None)
    raised = [which for which in range(16) if libc.prlimit(0, which, (ctypes.c_uint64 * 2)(-1, -1), None) == 0]
    return [target["claim"], *raised] if 9 in raised else raised
