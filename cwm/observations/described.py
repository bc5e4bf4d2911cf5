"""How a schema lays observations out as vectors, in words: for whoever shall write the same numbers by other means."""

from collections.abc import Iterator

from cwm.observations.structures import Listing, OneOf, RecordStructure
from cwm.observations.values import Category, Flag, Null, Part, Pattern, Real, Spelling, Whole, one_hot_width


def described(part: Part) -> list[str]:
    """Returns the layout line by line: places of numbers, and what is written there.

    Args:
        part: the schema.
    """
    return list(_lines(part, "observation", 0, 0))


def _lines(part: Part, path: str, begin: int, depth: int) -> Iterator[str]:
    """Yields the lines of a part whose numbers begin at a place."""
    match part:
        case RecordStructure(fields):
            for field in fields:
                place = f"{path}[{field.name!r}]"
                if field.optional:
                    yield _line(depth, begin, 1, f"1 if the key {field.name!r} is there, else 0")
                    begin += 1
                yield from _lines(field.part, place, begin, depth)
                begin += field.part.width
        case OneOf(kinds, parts):
            yield from _kinds(kinds, parts, path, begin, depth)
        case Listing():
            yield from _listing(part, path, begin, depth)
        case Pattern(frames, slots):
            yield from _pattern(frames, slots, path, begin, depth)
        case Spelling(alphabet, length):
            yield _line(depth, begin, 1, f"the length of the text {path}, divided by {2 ** length.bit_length()}")
            told = f"its characters, one-hot over {alphabet!r} ({len(alphabet)} numbers each), then zeros"
            yield _line(depth, begin + 1, part.width - 1, told)
        case _ if part.width:
            yield _line(depth, begin, part.width, _simple(part, path))


def _simple(part: Part, path: str) -> str:
    match part:
        case Flag():
            return f"{path}: 1 if True, 0 if False"
        case Whole(low, exponent):
            return f"{_shifted(path, low)}{_divided(exponent)}"
        case Real(exponent):
            return f"{path}{_divided(exponent)}"
        case Category(values):
            return f"{path}, one-hot over {list(values)}"
        case Null():
            return f"{path} is None: no number"
    raise TypeError(f"a part of type {type(part).__name__} has no description")


def _kinds(kinds: tuple[str, ...], parts: tuple[Part, ...], path: str, begin: int, depth: int) -> Iterator[str]:
    choices = one_hot_width(len(kinds))
    if choices:
        yield _line(
            depth, begin, choices, f"the type of {path}, one-hot over {list(kinds)}; what follows is 0 but for it"
        )
        begin += choices
    for part in parts:
        yield from _lines(part, path, begin, depth)
        begin += part.width


def _listing(part: Listing, path: str, begin: int, depth: int) -> Iterator[str]:
    width = part.item.width
    if part.varies:
        told = f"the length of the list {path} (at most {part.longest}), divided by {2 ** part.longest.bit_length()}"
        yield _line(depth, begin, 1, told)
        begin += 1
    if not width or not part.longest:
        return
    last = begin + (part.longest - 1) * width
    rest = "; items that are not there are zeros" if part.varies else ""
    told = f"the items of {path}, {width} each: item i begins at {begin} + {width} * i, up to {last}{rest}. An item:"
    yield _line(depth, begin, part.longest * width, told)
    yield from _lines(part.item, f"{path}[0]", begin, depth + 1)


def _pattern(
    frames: tuple[tuple[str, ...], ...], slots: tuple[Whole, ...], path: str, begin: int, depth: int
) -> Iterator[str]:
    choices = one_hot_width(len(frames))
    shown = ["#".join(frame) for frame in frames]
    if choices:
        told = f"the text {path} without its numbers (# stands for one), one-hot over {shown}"
        yield _line(depth, begin, choices, told)
        begin += choices
    for number, slot in enumerate(slots):
        told = f"{_shifted(f'number {number + 1} in the text {path}', slot.low)}{_divided(slot.exponent)}"
        yield _line(depth, begin + number, 1, f"{told}; 0 where there is none")


def _shifted(what: str, low: int) -> str:
    return what if low == 0 else f"({what} {'-' if low > 0 else '+'} {abs(low)})"


def _divided(exponent: int) -> str:
    if exponent == 0:
        return ""
    return f" / {2**exponent}" if exponent > 0 else f" * {2**-exponent}"


def _line(depth: int, begin: int, width: int, told: str) -> str:
    places = f"[{begin}]" if width == 1 else f"[{begin}:{begin + width}]"
    return f"{'  ' * depth}- {places} {told}"
