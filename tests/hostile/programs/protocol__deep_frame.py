# Writes a frame so deep that reading it recurses.
# expect: protocol_error
# process: none
import os
import struct


def attack(target):
    os.write(4, struct.pack(">I", 50_000) + b"[" * 50_000)
