"""The child process: takes the trusted modules from its parent and hands over to the last one of its own.

Started as a file, `python -s -S -P -B worker.py MODE REQUEST_FD REPLY_FD`, without any site directory, so that it has
the standard library alone. MODE `worker` serves one program; `nursery` forks workers on request.
Everything that a program may import is imported here, before the process locks itself, and so is what those modules
import late, in the middle of a call.
"""

import __future__  # noqa: F401

import base64
import bisect  # noqa: F401
import collections.abc  # noqa: F401
import contextlib
import copy  # noqa: F401
import ctypes  # noqa: F401
import dataclasses  # noqa: F401
import decimal  # noqa: F401
import encodings.ascii
import encodings.latin_1
import encodings.raw_unicode_escape
import encodings.unicode_escape
import encodings.utf_8_sig
import encodings.utf_16
import encodings.utf_32  # noqa: F401
import enum  # noqa: F401
import fractions  # noqa: F401
import functools  # noqa: F401
import heapq  # noqa: F401
import importlib
import inspect  # noqa: F401
import itertools  # noqa: F401
import json
import marshal
import math  # noqa: F401
import numbers  # noqa: F401
import operator  # noqa: F401
import os
import random  # noqa: F401
import re  # noqa: F401
import reprlib  # noqa: F401
import statistics  # noqa: F401
import string  # noqa: F401
import struct
import sys
import traceback  # noqa: F401
import types
import typing  # noqa: F401
import unicodedata  # noqa: F401
import warnings  # noqa: F401
import weakref  # noqa: F401
from collections.abc import Callable
from typing import Any

NEWER = ("_pylong", "annotationlib", "string.templatelib")
"""Of later versions of Python than the oldest that is supported; imported late there."""
REQUESTS, REPLIES = 3, 4
"""Where the pipes lie, whatever numbers they came with."""
MAX_DESCRIPTOR = 1 << 16

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


def import_libraries(wanted: dict[str, Any]) -> None:
    """Imports packages beyond the standard library, before the process locks itself.

    Args:
        wanted: `folders` that they lie in, `names` of what is imported, `environment` that they read.
    """
    os.environ.update(wanted["environment"])
    sys.path[:0] = wanted["folders"]
    for name in wanted["names"]:
        importlib.import_module(name)


def loaded_late(function: Callable[[], None]) -> list[str]:
    """Returns the modules that a function loads, found by a forked process that ends with it."""
    known = set(sys.modules)
    source, target = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            function()
            os.write(target, json.dumps([name for name in sys.modules if name not in known]).encode("ascii"))
        finally:
            os._exit(0)
    os.close(target)
    data = b"".join(iter(lambda: os.read(source, 1 << 16), b""))
    os.close(source)
    os.waitpid(child, 0)
    names: list[str] = json.loads(data or b"[]")
    return names


def warm_up(wanted: dict[str, Any], isolation: dict[str, Any]) -> None:
    """Has libraries load now what they load late: once the process is locked, nothing can be.

    They start threads meanwhile, and so the lock begins before: what they load is loaded first, by its names.

    Args:
        wanted: `module` and `warm_up`: name of its function.
        isolation: settings of the lock.
    """
    function = getattr(sys.modules[wanted["module"]], wanted["warm_up"])
    for name in loaded_late(function):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    sys.modules["cwm.sandbox.lock.lock"].shut_before_threads(isolation)
    function()


def arrange(requests: int, replies: int) -> None:
    """Moves the two descriptors to their places and closes whatever else was inherited."""
    # Out of the way first: one may lie where the other belongs.
    requests, replies = os.dup(requests), os.dup(replies)
    while requests <= REPLIES or replies <= REPLIES:
        requests, replies = os.dup(requests), os.dup(replies)
    os.dup2(requests, REQUESTS)
    os.dup2(replies, REPLIES)
    os.closerange(REPLIES + 1, MAX_DESCRIPTOR)


def main() -> None:
    """Receives the modules, then serves requests until the parent closes the pipe."""
    mode = sys.argv[1]
    arrange(int(sys.argv[2]), int(sys.argv[3]))
    for name in NEWER:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    setup = read_frame(REQUESTS)
    libraries = setup.get("libraries")
    if libraries is not None:
        import_libraries(libraries)
    for name, code in setup["modules"]:
        install(name, marshal.loads(base64.b64decode(code)))
    if libraries is not None:
        warm_up(libraries, setup["settings"]["isolation"])
    if mode == "nursery":
        sys.modules["cwm.sandbox.worker.nursery"].serve(read_frame, setup["settings"])
    else:
        sys.modules["cwm.sandbox.worker.service"].serve(lambda: read_frame(REQUESTS), REPLIES, setup["settings"])


if __name__ == "__main__":
    main()
