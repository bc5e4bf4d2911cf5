# Runs a command with the C library.
# expect: ok
# process: breach
import ctypes


def attack(target):
    return ctypes.CDLL(None).system(f"mkdir {target['inside']}/made".encode())
