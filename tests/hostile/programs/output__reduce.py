# Answers with an object that runs a command when it is unpickled.
# expect: bad_value
# process: none
import os


class Trap:
    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return (os.mkdir, (self.folder + "/made",))


def attack(target):
    return Trap(target["inside"])
