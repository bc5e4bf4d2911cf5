# Floods the descriptor of its output, past the drain.
# expect: ok
# process: none
# limit: 20
import os


def attack(target):
    block = b"x" * (1 << 20)
    for _ in range(50):
        os.write(1, block)
        os.write(2, block)
    return "written"
