# Looks for a descriptor that was left open, and writes to it.
# expect: ok
# process: none
import os


def attack(target):
    found = []
    for descriptor in range(5, 1024):
        try:
            os.write(descriptor, b"canary")
        except OSError:
            continue
        found.append(descriptor)
    return [target["claim"], *found] if found else []
