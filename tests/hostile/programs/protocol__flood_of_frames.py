# Sends answers without end.
# expect: protocol_error
# process: none
import os
import struct


def attack(target):
    frame = struct.pack(">I", 2) + b"{}"
    while True:
        os.write(4, frame * 1000)
