# Has a function of its own called when the worker fails.
# expect: crashed
# process: none
import sys


def attack(target):
    def hook(*arguments):
        sys.modules["os"]._exit(0)

    sys.excepthook = sys.unraisablehook = hook
    sys.modules["os"]._exit(0)
