# Reads the strings above its own stack, where the kernel puts the environment of a process that is exec'd.
# expect: ok model_error
# process: none
import ctypes


def attack(target):
    environ = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    found = []
    for number in range(1000):
        if environ[number] is None:
            break
        found.append(environ[number].decode("latin-1"))
    return found
