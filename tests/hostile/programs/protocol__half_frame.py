# Announces an answer and never sends it.
# expect: wall_timeout
# process: none
# limit: 0.3
import os
import struct


def attack(target):
    os.write(4, struct.pack(">I", 1000) + b"{")
    while True:
        pass
