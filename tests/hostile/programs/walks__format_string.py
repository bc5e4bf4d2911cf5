# Walks from a format string to the module os.
# expect: ok
# process: none
import os


class Holder:
    def method(self):
        return os.name


def attack(target):
    return "{0.method.__globals__[os].environ}".format(Holder())
