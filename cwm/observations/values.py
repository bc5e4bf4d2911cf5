"""Numbers, truth values and texts in observations, as numbers of a vector and back.

Every value that is written can be read back exactly: numbers are scaled by powers of two alone.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from games.api import Json

EXACT: Final = 1 << 53
"""Whole numbers up to here are floats without loss."""
SHOWN: Final = 8
NUMERAL: Final = re.compile(r"(0|[1-9][0-9]{0,14})")


class ObservationVectorError(ValueError):
    """An observation does not fit the schema, or a vector does not; the message names the place."""


class UnseenCategoryError(ObservationVectorError):
    """A text, or a character of one, occurs in no sample at this place."""


class LongerListError(ObservationVectorError):
    """A list, or a text, is longer than any sample at this place, or shorter where all have one length."""


class UnseenStructureError(ObservationVectorError):
    """A value is of a type, or a dictionary has or lacks a key, as in no sample at this place."""


class InexactNumberError(ObservationVectorError):
    """A number cannot be written as a float without loss."""


class VectorLengthError(ObservationVectorError):
    """A vector has not as many numbers as the schema."""


class Reader:
    """Reads numbers one after the other.

    Args:
        numbers: a whole vector.
    """

    def __init__(self, numbers: Sequence[float]) -> None:
        self._numbers = numbers
        self._place = 0

    def next(self) -> float:
        self._place += 1
        return self._numbers[self._place - 1]

    def largest(self, count: int) -> int:
        """Returns which of the next numbers is the largest: the choice that a one-hot group makes."""
        group = self._numbers[self._place : self._place + count]
        self._place += count
        return max(range(count), key=group.__getitem__) if count else 0

    def skip(self, count: int) -> None:
        self._place += count


class Part(Protocol):
    """One part of an observation."""

    @property
    def width(self) -> int:
        """How many numbers it takes."""
        ...

    def write(self, value: Json, path: str, out: list[float]) -> None:
        """Appends `width` numbers for a value.

        Raises:
            ObservationVectorError: the value does not fit.
        """
        ...

    def read(self, numbers: Reader) -> Json:
        """Returns the value of the next `width` numbers."""
        ...

    def names(self, path: str) -> Iterator[str]:
        """Yields what each number stands for."""
        ...


@dataclass(frozen=True)
class Null:
    """None and nothing else."""

    width = 0

    def write(self, value: Json, path: str, out: list[float]) -> None:
        """Writes nothing."""

    def read(self, numbers: Reader) -> Json:
        return None

    def names(self, path: str) -> Iterator[str]:
        return iter(())


@dataclass(frozen=True)
class Flag:
    """A truth value: 0 or 1."""

    width = 1

    def write(self, value: Json, path: str, out: list[float]) -> None:
        out.append(float(value))

    def read(self, numbers: Reader) -> Json:
        return numbers.next() >= 0.5

    def names(self, path: str) -> Iterator[str]:
        yield path


@dataclass(frozen=True)
class Whole:
    """A whole number, in the samples from `low` on: 0 to 1, and beyond for numbers beyond the samples.

    Attributes:
        low: is written as 0.
        exponent: `low` + 2 to this power is written as 1.
    """

    low: int
    exponent: int

    width = 1

    def write(self, value: Json, path: str, out: list[float]) -> None:
        above = value - self.low
        if abs(above) > EXACT:
            raise InexactNumberError(f"{path} is {value}: a float holds whole numbers up to 2 ** 53 without loss.")
        out.append(math.ldexp(float(above), -self.exponent))

    def read(self, numbers: Reader) -> Json:
        return round(math.ldexp(numbers.next(), self.exponent)) + self.low

    def names(self, path: str) -> Iterator[str]:
        yield path


@dataclass(frozen=True)
class Real:
    """A float, in the samples at most 2 to the power of `exponent`: -1 to 1, and beyond for larger ones."""

    exponent: int

    width = 1

    def holds(self, value: float) -> bool:
        """Returns whether a number comes back without loss."""
        scaled = _shifted(value, -self.exponent)
        return math.isfinite(scaled) and _shifted(scaled, self.exponent) == value

    def write(self, value: Json, path: str, out: list[float]) -> None:
        if not self.holds(value):
            raise InexactNumberError(f"{path} is {value!r}: it cannot be scaled by 2 ** {-self.exponent} without loss.")
        out.append(_shifted(value, -self.exponent))

    def read(self, numbers: Reader) -> Json:
        return _shifted(numbers.next(), self.exponent)

    def names(self, path: str) -> Iterator[str]:
        yield path


@dataclass(frozen=True)
class Category:
    """One of some texts, one-hot; a single one takes no number.

    Attributes:
        values: all texts, sorted.
    """

    values: tuple[str, ...]

    @property
    def width(self) -> int:
        return one_hot_width(len(self.values))

    def write(self, value: Json, path: str, out: list[float]) -> None:
        if value not in self.values:
            raise UnseenCategoryError(f"{path} is {value!r}; the samples have {_listed(self.values)} there.")
        write_choice(self.values.index(value), len(self.values), out)

    def read(self, numbers: Reader) -> Json:
        return self.values[numbers.largest(self.width)]

    def names(self, path: str) -> Iterator[str]:
        if self.width:
            yield from (f"{path}={value}" for value in self.values)


@dataclass(frozen=True)
class Pattern:
    """A text with numbers in it, e.g. `move 4 to 2,5`: one-hot by what stands around the numbers, then the numbers.

    Attributes:
        frames: the texts around the numbers, for each pattern one more than it has numbers.
        slots: the first number of any pattern, the second and so on.
    """

    frames: tuple[tuple[str, ...], ...]
    slots: tuple[Whole, ...]

    @property
    def width(self) -> int:
        return one_hot_width(len(self.frames)) + len(self.slots)

    def write(self, value: Json, path: str, out: list[float]) -> None:
        frame, values = split(value)
        if frame not in self.frames:
            shown = _listed(["#".join(known) for known in self.frames])
            raise UnseenCategoryError(f"{path} is {value!r}; the samples have {shown} there, with numbers for #.")
        write_choice(self.frames.index(frame), len(self.frames), out)
        for slot, number in zip(self.slots, values, strict=False):
            slot.write(number, path, out)
        out.extend([0.0] * (len(self.slots) - len(values)))

    def read(self, numbers: Reader) -> Json:
        frame = self.frames[numbers.largest(one_hot_width(len(self.frames)))]
        values = [slot.read(numbers) for slot in self.slots]
        shown = map(str, values[: len(frame) - 1])
        return frame[0] + "".join(number + text for number, text in zip(shown, frame[1:], strict=True))

    def names(self, path: str) -> Iterator[str]:
        if len(self.frames) > 1:
            yield from (f"{path}={'#'.join(frame)}" for frame in self.frames)
        yield from (f"{path}#{number}" for number in range(len(self.slots)))


@dataclass(frozen=True)
class Spelling:
    """A text of too many kinds to be listed: its length, then each character one-hot.

    Attributes:
        alphabet: all characters, sorted.
        length: the longest text.
    """

    alphabet: str
    length: int

    @property
    def width(self) -> int:
        return 1 + self.length * len(self.alphabet)

    def write(self, value: Json, path: str, out: list[float]) -> None:
        if len(value) > self.length:
            raise LongerListError(f"{path} has {len(value)} characters; in the samples it has at most {self.length}.")
        out.append(share(len(value), self.length))
        for character in value:
            place = self.alphabet.find(character)
            if place < 0:
                raise UnseenCategoryError(f"{path} has the character {character!r}, which no sample has there.")
            out.extend(float(number == place) for number in range(len(self.alphabet)))
        out.extend([0.0] * ((self.length - len(value)) * len(self.alphabet)))

    def read(self, numbers: Reader) -> Json:
        length = count(numbers.next(), self.length)
        text = "".join(self.alphabet[numbers.largest(len(self.alphabet))] for _ in range(length))
        numbers.skip((self.length - length) * len(self.alphabet))
        return text

    def names(self, path: str) -> Iterator[str]:
        yield f"{path} length"
        for number in range(self.length):
            yield from (f"{path}[{number}]={character}" for character in self.alphabet)


def split(text: str) -> tuple[tuple[str, ...], list[int]]:
    """Returns what stands around the numbers of a text, and the numbers; put together they are the text again."""
    pieces = NUMERAL.split(text)
    return tuple(pieces[::2]), list(map(int, pieces[1::2]))


def one_hot_width(choices: int) -> int:
    """Returns how many numbers a choice takes: none where there is nothing to choose."""
    return choices if choices > 1 else 0


def write_choice(chosen: int, choices: int, out: list[float]) -> None:
    """Appends a choice, one-hot."""
    out.extend(float(number == chosen) for number in range(one_hot_width(choices)))


def share(count: int, most: int) -> float:
    """Returns a count from 0 to `most` as a number from 0 to 1 that gives it back."""
    return math.ldexp(float(count), -most.bit_length())


def count(share: float, most: int) -> int:
    """Returns the count that `share` stands for, 0 to `most`."""
    return min(most, max(0, round(math.ldexp(share, most.bit_length()))))


def _shifted(value: float, exponent: int) -> float:
    try:
        return math.ldexp(value, exponent)
    except OverflowError:
        return math.inf


def _listed(values: Sequence[str]) -> str:
    shown = ", ".join(map(repr, values[:SHOWN]))
    return shown if len(values) <= SHOWN else f"{shown} and {len(values) - SHOWN} more"
