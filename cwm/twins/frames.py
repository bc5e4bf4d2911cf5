"""Frames between this process and the one that runs a compiled twin: a JSON head and arrays behind it."""

import json
import struct
from collections.abc import Callable, Mapping
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

HEADER: Final = struct.Struct(">IQ")
MOST_HEAD: Final = 1 << 25
MOST_BYTES: Final = 1 << 32
TYPES: Final = frozenset({"bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "float32"})


class FrameError(Exception):
    """A frame is not what it says of itself."""


def packed(head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Returns a frame.

    Args:
        head: JSON.
        arrays: by name.
    """
    told = [[name, array.dtype.name, list(array.shape)] for name, array in arrays.items()]
    text = json.dumps({"head": dict(head), "arrays": told}).encode("ascii")
    body = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays.values())
    return HEADER.pack(len(text), len(body)) + text + body


def received(
    read: Callable[[int], bytes], most_bytes: int = MOST_BYTES
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Reads a frame.

    Args:
        read: returns exactly so many bytes.
        most_bytes: that its arrays may have; of a larger frame they are not read.

    Raises:
        FrameError: it is none.
    """
    length, size = HEADER.unpack(read(HEADER.size))
    if length > MOST_HEAD or size > min(most_bytes, MOST_BYTES):
        raise FrameError("a frame is too large")
    try:
        told = json.loads(read(length))
        head = told["head"]
        kinds = [(str(name), str(dtype), tuple(map(int, shape))) for name, dtype, shape in told["arrays"]]
        if not isinstance(head, dict):
            raise TypeError("it is no object")
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise FrameError("a frame's head cannot be read") from error
    if any(dtype not in TYPES or any(number < 0 for number in shape) for _, dtype, shape in kinds):
        raise FrameError("a frame holds an array of an unknown type")
    sizes = [prod(shape) * np.dtype(dtype).itemsize for _, dtype, shape in kinds]
    if sum(sizes) != size:
        raise FrameError("a frame's arrays are longer or shorter than it is")
    body = read(size)
    arrays: dict[str, NDArray[Any]] = {}
    place = 0
    for (name, dtype, shape), bytes_ in zip(kinds, sizes, strict=True):
        try:
            arrays[name] = np.frombuffer(body[place : place + bytes_], dtype).reshape(shape)
        except (ValueError, OverflowError) as error:
            raise FrameError("a frame holds an array of a shape that there is not") from error
        place += bytes_
    return head, arrays
