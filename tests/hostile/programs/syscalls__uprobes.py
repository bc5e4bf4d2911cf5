# Makes the calls that the kernel's own probes make, which pass every filter: the kernel itself ends or refuses them.
# expect: crashed ok
# process: skip
import ctypes
import platform


def attack(target):
    libc = ctypes.CDLL(None)
    numbers = {"x86_64": [336, 335], "aarch64": []}[platform.machine()]
    return [target["claim"] for number in numbers if libc.syscall(number, 0, 0, 0, 0, 0, 0) != -1]
