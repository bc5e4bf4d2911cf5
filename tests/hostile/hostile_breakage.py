"""Loaded into workers as a trusted module: breaks code of ours there, whatever the program."""

import sys


def _broken(*_: object, **__: object) -> None:
    raise TypeError("broken for a test")


for _module, _name in (("cwm.sandbox.inside.runner", "check_random_play"), ("search.session", "playouts")):
    if _module in sys.modules:
        setattr(sys.modules[_module], _name, _broken)
