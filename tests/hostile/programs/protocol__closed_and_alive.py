# Closes the descriptor of the answers and lives on.
# expect: protocol_error
# process: none
# limit: 4
import os
import time


def attack(target):
    os.close(4)
    time.sleep(60)
