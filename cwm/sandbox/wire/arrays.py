"""Arrays behind a frame's JSON: what a worker appends and what its parent takes of it, every length checked.

A frame is JSON text, or JSON text, one zero byte and the arrays' numbers: little-endian, the last axis fastest, in the
order in which the JSON's `arrays` lists them. JSON text that is ASCII holds no zero byte. Loaded into workers: standard
library alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

ITEM_BYTES: Mapping[str, int] = {"float32": 4, "int32": 4, "uint8": 1}
"""Known types of numbers, and what one takes."""
MOST_ARRAYS, MOST_AXES, LONGEST_AXIS = 16, 4, 1 << 30
SEPARATOR = b"\0"


class ArrayError(ValueError):
    """A frame's arrays are not what its JSON says of them."""


@dataclass(frozen=True)
class BinaryArray:
    """An array as bytes.

    Attributes:
        dtype: key of `ITEM_BYTES`.
        shape: at most `MOST_AXES` lengths.
        data: little-endian numbers, the last axis fastest; as many as the shape has.
    """

    dtype: str
    shape: tuple[int, ...]
    data: bytes

    def __post_init__(self) -> None:
        if self.dtype not in ITEM_BYTES:
            raise ArrayError(f"an array's dtype is {self.dtype!r:.40}, expected {' or '.join(ITEM_BYTES)}.")
        expected = prod(self.shape) * ITEM_BYTES[self.dtype]
        if len(self.data) != expected:
            raise ArrayError(f"an array of shape {self.shape} has {len(self.data)} bytes, expected {expected}.")


def described(arrays: Mapping[str, BinaryArray]) -> list[list[Any]]:
    """Returns what the JSON says of a frame's arrays: [name, dtype, shape] each."""
    return [[name, array.dtype, list(array.shape)] for name, array in arrays.items()]


def joined(arrays: Mapping[str, BinaryArray]) -> bytes:
    """Returns what follows the JSON text, b"" for no arrays."""
    return SEPARATOR + b"".join(array.data for array in arrays.values()) if arrays else b""


def taken(told: Any, data: bytes) -> dict[str, BinaryArray]:
    """Returns a frame's arrays, by name.

    Args:
        told: what the JSON says of them; nothing of its form is taken for granted.
        data: all that follows the zero byte.

    Raises:
        ArrayError: the two do not fit together to the last byte.
    """
    if not isinstance(told, list) or len(told) > MOST_ARRAYS:
        raise ArrayError(f"a frame's arrays must be a list of at most {MOST_ARRAYS}.")
    found: dict[str, BinaryArray] = {}
    begin = 0
    for row in told:
        name, dtype, shape = _row(row, found)
        end = begin + prod(shape) * ITEM_BYTES[dtype]
        if end > len(data):
            raise ArrayError(f"the array {name!r:.40} ends at byte {end}; only {len(data)} were sent.")
        found[name] = BinaryArray(dtype, shape, data[begin:end])
        begin = end
    if begin != len(data):
        raise ArrayError(f"{len(data)} bytes were sent for arrays that take {begin}.")
    return found


def _row(row: Any, known: Mapping[str, BinaryArray]) -> tuple[str, str, tuple[int, ...]]:
    if not isinstance(row, list) or len(row) != 3:
        raise ArrayError("an array is told as [name, dtype, shape].")
    name, dtype, shape = row
    if not isinstance(name, str) or name in known:
        raise ArrayError("an array's name must be text, none twice.")
    if not isinstance(dtype, str) or dtype not in ITEM_BYTES:
        raise ArrayError(f"an array's dtype is {dtype!r:.40}, expected {' or '.join(ITEM_BYTES)}.")
    return name, dtype, _shape(shape)


def _shape(shape: Any) -> tuple[int, ...]:
    well_formed = isinstance(shape, Sequence) and not isinstance(shape, str) and len(shape) <= MOST_AXES
    if not well_formed or not all(type(length) is int and 0 <= length <= LONGEST_AXIS for length in shape):
        raise ArrayError(f"an array's shape is {shape!r:.40}, expected at most {MOST_AXES} whole numbers from 0.")
    return tuple(shape)
