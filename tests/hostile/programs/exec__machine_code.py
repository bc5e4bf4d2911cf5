# Writes machine code into memory and runs it.
# expect: ok
# process: maybe
import ctypes
import platform

RETURN_42 = {"x86_64": b"\xb8\x2a\x00\x00\x00\xc3", "aarch64": b"\x40\x05\x80\x52\xc0\x03\x5f\xd6"}


def attack(target):
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    address = libc.mmap(None, ctypes.c_size_t(4096), 7, 0x22, -1, ctypes.c_long(0))
    if address in (None, 2**64 - 1):
        return "no memory that can be run"
    code = RETURN_42[platform.machine()]
    ctypes.memmove(address, code, len(code))
    return target["claim"] if ctypes.CFUNCTYPE(ctypes.c_int)(address)() == 42 else None
