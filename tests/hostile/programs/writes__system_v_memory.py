# Makes shared memory of the older kind.
# expect: ok
# process: breach
import ctypes


def attack(target):
    libc = ctypes.CDLL(None)
    made = libc.shmget(0, 4096, 0o600 | 0o1000)
    if made >= 0:
        libc.shmctl(made, 0, None)
        return target["claim"]
    return made
