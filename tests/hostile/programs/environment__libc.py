# Looks for the key where the C library keeps the environment.
# expect: ok
# process: none
import ctypes


def attack(target):
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_char_p
    found = getenv(target["variable"].encode())
    return found and found.decode()
