"""The child process: takes the trusted modules from its parent and hands over to `cwm.sandbox.service`.

Started as a file, `python -s -S -P -B worker.py REQUEST_FD REPLY_FD`, without any site directory, so that it has the
standard library alone.
Everything that a program may import is imported here, before the process locks itself.
"""

import base64
import bisect  # noqa: F401
import collections  # noqa: F401
import copy  # noqa: F401
import dataclasses  # noqa: F401
import enum  # noqa: F401
import fractions  # noqa: F401
import functools  # noqa: F401
import heapq  # noqa: F401
import itertools  # noqa: F401
import json
import marshal
import math  # noqa: F401
import operator  # noqa: F401
import os
import random  # noqa: F401
import re  # noqa: F401
import statistics  # noqa: F401
import string  # noqa: F401
import struct
import sys
import types
import typing  # noqa: F401
from typing import Any

# Taken now: a program may put anything in their place.
READ = os.read
DECODE = json.JSONDecoder().decode
HEADER = struct.Struct(">I")


def read_exactly(descriptor: int, count: int) -> bytes:
    """Returns `count` bytes; ends the process at the end of the stream, when the parent is gone."""
    parts: list[bytes] = []
    while count:
        part = READ(descriptor, min(count, 1 << 20))
        if not part:
            os._exit(0)
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def read_frame(descriptor: int) -> Any:
    """Returns the next request of the parent."""
    (length,) = HEADER.unpack(read_exactly(descriptor, HEADER.size))
    return DECODE(read_exactly(descriptor, length).decode("ascii"))


def install(name: str, code: types.CodeType) -> None:
    """Makes a trusted module importable and runs it; parent packages are registered empty."""
    parts = name.split(".")
    for end in range(1, len(parts)):
        package = ".".join(parts[:end])
        if package not in sys.modules:
            sys.modules[package] = types.ModuleType(package)
            sys.modules[package].__path__ = []
    module = types.ModuleType(name)
    sys.modules[name] = module
    if len(parts) > 1:
        setattr(sys.modules[".".join(parts[:-1])], parts[-1], module)
    exec(code, vars(module))  # noqa: S102 - code of our own, from the parent


def main() -> None:
    """Receives the modules, then serves requests until the parent closes the pipe."""
    request_fd, reply_fd = int(sys.argv[1]), int(sys.argv[2])
    setup = read_frame(request_fd)
    for name, code in setup["modules"]:
        install(name, marshal.loads(base64.b64decode(code)))
    service = sys.modules["cwm.sandbox.service"]
    service.serve(lambda: read_frame(request_fd), reply_fd, setup["settings"])


if __name__ == "__main__":
    main()
