# Has the C library call back into Python, which takes memory that can be run.
# expect: ok model_error memory_exceeded crashed
# process: none
import ctypes


def attack(target):
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda left, right: 0)
    array = (ctypes.c_int * 4)(4, 3, 2, 1)
    ctypes.CDLL(None).qsort(array, 4, 4, compare)
    return list(array)
