# Closes the descriptor of the answers.
# expect: protocol_error crashed
# process: none
# limit: 3
import os


def attack(target):
    os.close(4)
    return "nobody hears it"
