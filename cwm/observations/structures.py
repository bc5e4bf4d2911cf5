"""Lists, dictionaries and values of several types in observations, as numbers of a vector and back."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from cwm.observations.values import (
    LongerListError,
    Part,
    Reader,
    UnseenStructureError,
    count,
    one_hot_width,
    share,
    write_choice,
)
from games.api import Json

_KINDS: Final[dict[type, str]] = {
    type(None): "none",
    bool: "bool",
    int: "int",
    float: "float",
    str: "text",
    list: "list",
    tuple: "list",
    dict: "dict",
}
KIND_NAMES: Final = frozenset(_KINDS.values())
"""All names of types that `kind_of` gives to JSON values."""
_REMEMBERED: Final = frozenset({type(None), bool, int, str})
"""Not floats: 0.0 and -0.0 are equal and written differently."""
MOST_REMEMBERED: Final = 1024
"""So many values a place are remembered, so that a place of ever new ones takes no memory."""


@dataclass(frozen=True)
class Listing:
    """A list: its length if that varies, then its items, all of one kind, then zeros.

    Attributes:
        item: what every item is.
        shortest: in the samples.
        longest: in the samples.
    """

    item: Part
    shortest: int
    longest: int

    @property
    def width(self) -> int:
        return int(self.varies) + self.longest * self.item.width

    @property
    def varies(self) -> bool:
        """Whether lists of different lengths occur."""
        return self.shortest < self.longest

    def write(self, value: Json, path: str, out: list[float]) -> None:
        if len(value) > self.longest or (len(value) < self.longest and not self.varies):
            expected = f"{'at most ' if self.varies else ''}{self.longest}"
            raise LongerListError(f"{path} has {len(value)} items; in the samples it has {expected}.")
        if self.varies:
            out.append(share(len(value), self.longest))
        for number, item in enumerate(value):
            self.item.write(item, f"{path}[{number}]", out)
        out.extend([0.0] * ((self.longest - len(value)) * self.item.width))

    def read(self, numbers: Reader) -> Json:
        length = count(numbers.next(), self.longest) if self.varies else self.longest
        items = [self.item.read(numbers) for _ in range(length)]
        numbers.skip((self.longest - length) * self.item.width)
        return items

    def names(self, path: str) -> Iterator[str]:
        if self.varies:
            yield f"{path} length"
        for number in range(self.longest):
            yield from self.item.names(f"{path}[{number}]")


@dataclass(frozen=True)
class Field:
    """One key of a dictionary.

    Attributes:
        name: the key.
        part: its values.
        optional: whether some samples lack it; then a number says whether it is there.
    """

    name: str
    part: Part
    optional: bool


@dataclass(frozen=True)
class RecordStructure:
    """A dictionary, key by key in alphabetical order.

    Attributes:
        fields: all keys of the samples.
    """

    fields: tuple[Field, ...]

    @property
    def width(self) -> int:
        return sum(int(field.optional) + field.part.width for field in self.fields)

    def write(self, value: Json, path: str, out: list[float]) -> None:
        unknown = sorted(set(value) - {field.name for field in self.fields})
        if unknown:
            raise UnseenStructureError(f"{path or 'the observation'} has the key {unknown[0]!r}, which no sample has.")
        for field in self.fields:
            present = field.name in value
            if field.optional:
                out.append(float(present))
            elif not present:
                raise UnseenStructureError(f"{path or 'the observation'} lacks {field.name!r}, which all samples have.")
            if present:
                field.part.write(value[field.name], f"{path}.{field.name}", out)
            else:
                out.extend([0.0] * field.part.width)

    def read(self, numbers: Reader) -> Json:
        found = {}
        for field in self.fields:
            if field.optional and numbers.next() < 0.5:
                numbers.skip(field.part.width)
            else:
                found[field.name] = field.part.read(numbers)
        return found

    def names(self, path: str) -> Iterator[str]:
        for field in self.fields:
            if field.optional:
                yield f"{path}.{field.name} is there"
            yield from field.part.names(f"{path}.{field.name}")


@dataclass(frozen=True)
class OneOf:
    """A value of one of several types, e.g. a number or None: one-hot by type, then room for each.

    Attributes:
        kinds: names of the types, sorted.
        parts: one a type.
    """

    kinds: tuple[str, ...]
    parts: tuple[Part, ...]
    _written: dict[tuple[type, Json], tuple[float, ...]] = dataclasses.field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Numbers of values that were written before: the same few texts and whole numbers come again and again."""

    @property
    def width(self) -> int:
        return one_hot_width(len(self.kinds)) + sum(part.width for part in self.parts)

    def write(self, value: Json, path: str, out: list[float]) -> None:
        if type(value) not in _REMEMBERED:
            self._write(value, path, out)
            return
        key = (type(value), value)
        numbers = self._written.get(key)
        if numbers is None:
            begin = len(out)
            self._write(value, path, out)
            if len(self._written) < MOST_REMEMBERED:
                self._written[key] = tuple(out[begin:])
            return
        out.extend(numbers)

    def _write(self, value: Json, path: str, out: list[float]) -> None:
        kind = kind_of(value)
        if kind not in self.kinds:
            place = path or "the observation"
            raise UnseenStructureError(f"{place} is of type {kind}; the samples have {' or '.join(self.kinds)} there.")
        write_choice(self.kinds.index(kind), len(self.kinds), out)
        for known, part in zip(self.kinds, self.parts, strict=True):
            if known == kind:
                part.write(value, path, out)
            else:
                out.extend([0.0] * part.width)

    def read(self, numbers: Reader) -> Json:
        chosen = numbers.largest(one_hot_width(len(self.kinds)))
        numbers.skip(sum(part.width for part in self.parts[:chosen]))
        value = self.parts[chosen].read(numbers)
        numbers.skip(sum(part.width for part in self.parts[chosen + 1 :]))
        return value

    def names(self, path: str) -> Iterator[str]:
        if len(self.kinds) > 1:
            yield from (f"{path} is {kind}" for kind in self.kinds)
        for part in self.parts:
            yield from part.names(path)


def kind_of(value: Json) -> str:
    """Returns the name of a value's type: `none`, `bool`, `int`, `float`, `text`, `list` or `dict`, else Python's."""
    return _KINDS.get(type(value), type(value).__name__)
