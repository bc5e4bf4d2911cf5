# Replaces functions that every line of the worker uses.
# expect: ok model_error crashed protocol_error bad_value wall_timeout
# process: none
# limit: 1
import builtins


def attack(target):
    builtins.isinstance = lambda value, kind: True
    builtins.len = lambda value: 3
    builtins.str = builtins.type = builtins.dict = None
    return {"a": [1]}
