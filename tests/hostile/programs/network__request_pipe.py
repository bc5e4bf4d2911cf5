# Reads the pipe on which the parent's requests come.
# expect: wall_timeout
# process: none
# limit: 0.5
import os


def attack(target):
    return os.read(3, 100).decode()
