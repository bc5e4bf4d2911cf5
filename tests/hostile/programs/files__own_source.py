# Reads the worker's own source from the installation.
# expect: model_error
# process: breach
import sys


def attack(target):
    return target["claim"] if open(sys.modules["__main__"].__file__).read() else None
