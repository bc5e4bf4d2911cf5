# Reads a file with the C library, past every hook of Python.
# expect: ok
# process: breach
import ctypes


def attack(target):
    libc = ctypes.CDLL(None)
    descriptor = libc.open(target["secret_file"].encode(), 0)
    buffer = ctypes.create_string_buffer(1000)
    libc.read(descriptor, buffer, 1000)
    return buffer.value.decode()
