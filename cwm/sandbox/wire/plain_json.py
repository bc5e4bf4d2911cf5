"""Plain JSON values: what may cross between worker and parent, and where two of them first differ.

Loaded into workers: standard library alone.
"""

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MAX_DEPTH = 100
"""Deeper nesting is refused: a cyclic value is infinitely deep."""
LARGEST = 10**4000
"""Python writes and reads no longer numbers as text."""


class NotJsonError(TypeError):
    """A value is not plain JSON; the message names the place."""


@dataclass(frozen=True)
class Difference:
    """The first place where two values differ.

    Attributes:
        path: e.g. `.cards[3].position`; "" if the values differ as a whole.
        message: what was expected there and what was found.
    """

    path: str
    message: str


def normalise(value: Any, path: str = "", depth: int = 0) -> Any:
    """Returns `value` as plain JSON: tuples become lists, subclasses become their base; everything else is refused.

    Raises:
        NotJsonError: a set, an object, a key that is not a string, NaN, an infinity, or too deep a nesting.
    """
    kind = type(value)
    if kind is int:
        return value if -LARGEST < value < LARGEST else _too_long(path)
    if kind is bool or value is None:
        return value
    if kind is str:
        return _text(value, path)
    if kind is float:
        return _number(value, path)
    if depth > MAX_DEPTH:
        raise NotJsonError(f"{path[:40]}… is nested more than {MAX_DEPTH} deep")
    if isinstance(value, dict):
        return {_key(key, path): normalise(item, f"{path}.{key}", depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [normalise(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]
    return _subclass(value, path)


def is_finite(value: Any) -> bool:
    """Tells whether a value is a number that a float can hold: plain JSON has longer whole numbers, too."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _subclass(value: Any, path: str) -> Any:
    if isinstance(value, str):
        return _text(str.__str__(value), path)
    if isinstance(value, int):
        return normalise(int.__int__(value), path)
    if isinstance(value, float):
        return _number(float.__float__(value), path)
    raise NotJsonError(f"{_where(path)} is a {type(value).__name__}; JSON has None, bool, int, float, str, list, dict")


def _number(value: float, path: str) -> float:
    if not math.isfinite(value):
        raise NotJsonError(f"{_where(path)} is {value}; a finite number was expected")
    return value


def _too_long(path: str) -> int:
    raise NotJsonError(f"{_where(path)} is a whole number of more than 4000 digits; a shorter one was expected")


def _text(value: str, path: str) -> str:
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise NotJsonError(f"{_where(path)} holds half of a surrogate pair; valid text was expected")
    return value


def _key(key: Any, path: str) -> str:
    if type(key) is not str:
        raise NotJsonError(f"{_where(path)} has the key {key!r} of type {type(key).__name__}; keys must be strings")
    return _text(key, path)


def _where(path: str) -> str:
    return path[:400] if path else "the value"


def first_difference(expected: Any, got: Any, path: str = "") -> Difference | None:
    """Returns the first place where two plain JSON values differ, None if they are equal.

    `1` and `1.0` are equal; `True` and `1` are not.
    """
    if isinstance(expected, dict) and isinstance(got, dict):
        return next(_dict_differences(expected, got, path), None)
    if isinstance(expected, list) and isinstance(got, list):
        return next(_list_differences(expected, got, path), None)
    if _same_scalar(expected, got):
        return None
    return Difference(path, f"expected {expected!r}, got {got!r}")


def _same_scalar(expected: Any, got: Any) -> bool:
    if isinstance(expected, bool) or isinstance(got, bool):
        return expected is got
    if isinstance(expected, int | float) and isinstance(got, int | float):
        return expected == got
    return type(expected) is type(got) and bool(expected == got)


def _dict_differences(expected: dict[str, Any], got: dict[str, Any], path: str) -> Iterator[Difference]:
    for key, item in expected.items():
        if key not in got:
            yield Difference(f"{path}.{key}", f"expected {item!r}, but the key is missing")
        elif difference := first_difference(item, got[key], f"{path}.{key}"):
            yield difference
    for key, item in got.items():
        if key not in expected:
            yield Difference(f"{path}.{key}", f"expected no such key, got {item!r}")


def _list_differences(expected: list[Any], got: list[Any], path: str) -> Iterator[Difference]:
    for index, (left, right) in enumerate(zip(expected, got, strict=False)):
        if difference := first_difference(left, right, f"{path}[{index}]"):
            yield difference
    if len(expected) != len(got):
        yield Difference(path, f"expected {len(expected)} items, got {len(got)}")
