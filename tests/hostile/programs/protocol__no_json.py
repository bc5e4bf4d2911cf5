# Writes a frame that is no JSON.
# expect: protocol_error
# process: none
import os
import struct


def attack(target):
    os.write(4, struct.pack(">I", 4) + b"\x80\x04.!")
