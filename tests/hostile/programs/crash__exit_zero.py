# Ends its process as if all were well.
# expect: crashed
# process: none
import os


def attack(target):
    os._exit(0)
