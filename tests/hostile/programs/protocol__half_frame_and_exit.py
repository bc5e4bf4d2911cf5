# Announces an answer and ends.
# expect: crashed
# process: none
import os
import struct


def attack(target):
    os.write(4, struct.pack(">I", 1000) + b"{")
    os._exit(0)
