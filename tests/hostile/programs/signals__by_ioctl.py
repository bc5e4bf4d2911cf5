# Makes the parent the owner of a descriptor with the older call.
# expect: model_error
# process: none
import fcntl
import struct


def attack(target):
    fcntl.ioctl(3, 0x8901, struct.pack("i", target["pid"]))
