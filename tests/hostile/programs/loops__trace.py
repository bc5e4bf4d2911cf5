# Never ends in a function that the interpreter calls at every line of the worker's own code.
# expect: wall_timeout
# process: none
# limit: 0.3
import sys


def attack(target):
    def endless(frame, event, argument):
        if frame.f_code.co_name != "attack":
            while True:
                pass
        return endless

    sys.setprofile(endless)
    return "returned"
