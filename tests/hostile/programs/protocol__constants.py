# Writes a frame with numbers that JSON does not have.
# expect: protocol_error
# process: none
import os
import struct


def attack(target):
    os.write(4, struct.pack(">I", 15) + b'{"value": NaN }')
