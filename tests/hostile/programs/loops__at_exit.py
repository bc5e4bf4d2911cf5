# Leaves an endless loop for the end of the process.
# expect: ok
# process: none
import atexit


def attack(target):
    def endless():
        while True:
            pass

    atexit.register(endless)
    return "done"
