# Closes every descriptor.
# expect: protocol_error crashed
# process: none
# limit: 3
import os


def attack(target):
    os.closerange(0, 100)
    return "nobody hears it"
