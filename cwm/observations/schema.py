"""Schemas of observations as JSON and back, so that what was trained on vectors can be kept beside their schema."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

from cwm.observations.structures import KIND_NAMES, Field, Listing, OneOf, RecordStructure
from cwm.observations.values import Category, Flag, Null, ObservationVectorError, Part, Pattern, Real, Spelling, Whole
from games.api import Json

FORMAT_VERSION: Final = 1
MAX_WIDTH: Final = 1 << 24
"""Wider vectors than these are of no schema that anybody inferred."""
MAX_EXPONENT: Final = 1 << 15
ADVICE: Final = "restore the schema from a copy, or infer it again with `cwm trajectories vectors`"
_PARTS_OF_KIND: Final[dict[str, tuple[type, ...]]] = {
    "none": (Null,),
    "bool": (Flag,),
    "int": (Whole,),
    "float": (Real,),
    "text": (Category, Pattern, Spelling),
    "list": (Listing,),
    "dict": (RecordStructure,),
}


class SchemaFormatError(ObservationVectorError):
    """A stored schema is damaged or of another version; the message names the place."""


def to_json(part: Part) -> dict[str, Json]:
    """Returns a schema as JSON, with its version and its width."""
    return {"version": FORMAT_VERSION, "width": part.width, "schema": _written(part)}


def from_json(data: Json) -> OneOf:
    """Returns the schema that `to_json` wrote: the same observations have the same vectors.

    Raises:
        SchemaFormatError: it is damaged, or another version wrote it.
    """
    found = _object(data, ("version", "width", "schema"), "the file")
    if found["version"] != FORMAT_VERSION or isinstance(found["version"], bool):
        raise SchemaFormatError(
            f"the schema has format {_shown(found['version'])}; this version reads {FORMAT_VERSION}: {ADVICE}."
        )
    try:
        part = _read(found["schema"], "schema")
    except RecursionError:
        _refuse("schema", "a deep nesting", "parts that are nested less deeply")
    if not isinstance(part, OneOf):
        _refuse("schema", f"a part of kind {found['schema']['part']!r}", "one of kind 'one_of'")
    if type(found["width"]) is not int or part.width != found["width"]:
        _refuse("width", _shown(found["width"]), f"{part.width}, as the parts have it")
    return part


def _written(part: Part) -> dict[str, Json]:
    match part:
        case Null():
            return {"part": "null"}
        case Flag():
            return {"part": "flag"}
        case Whole(low, exponent):
            return {"part": "whole", "low": low, "exponent": exponent}
        case Real(exponent):
            return {"part": "real", "exponent": exponent}
        case Category(values):
            return {"part": "category", "values": list(values)}
        case Pattern(frames, slots):
            written = [_written(slot) for slot in slots]
            return {"part": "pattern", "frames": [list(frame) for frame in frames], "slots": written}
        case Spelling(alphabet, length):
            return {"part": "spelling", "alphabet": alphabet, "length": length}
        case Listing(item, shortest, longest):
            return {"part": "listing", "item": _written(item), "shortest": shortest, "longest": longest}
        case RecordStructure(fields):
            rows = [{"name": row.name, "optional": row.optional, "values": _written(row.part)} for row in fields]
            return {"part": "record", "fields": rows}
        case OneOf(kinds, parts):
            return {"part": "one_of", "kinds": list(kinds), "parts": [_written(inner) for inner in parts]}
    raise SchemaFormatError(f"a part of type {type(part).__name__} cannot be stored; known are {', '.join(_READERS)}.")


def _read(data: Json, path: str) -> Part:
    name = data.get("part") if isinstance(data, dict) else None
    reader = _READERS.get(name) if isinstance(name, str) else None
    if reader is None:
        _refuse(path, _shown(data), f"an object whose 'part' is one of {', '.join(_READERS)}")
    keys, build = reader
    part = build(_object(data, ("part", *keys), path), path)
    if part.width > MAX_WIDTH:
        _refuse(path, f"a part of {part.width} numbers", f"at most {MAX_WIDTH}")
    return part


def _whole(data: Mapping[str, Json], path: str) -> Whole:
    return Whole(_int(data, "low", path), _int(data, "exponent", path, 0, MAX_EXPONENT))


def _real(data: Mapping[str, Json], path: str) -> Real:
    return Real(_int(data, "exponent", path, -MAX_EXPONENT, MAX_EXPONENT))


def _category(data: Mapping[str, Json], path: str) -> Category:
    values = _texts(data["values"], f"{path}.values")
    if not values or values != tuple(sorted(set(values))):
        _refuse(f"{path}.values", _shown(data["values"]), "at least one text, sorted, none twice")
    return Category(values)


def _pattern(data: Mapping[str, Json], path: str) -> Pattern:
    rows = _list(data["frames"], f"{path}.frames")
    frames = tuple(_texts(row, f"{path}.frames[{number}]") for number, row in enumerate(rows))
    slots = tuple(_read(slot, f"{path}.slots[{i}]") for i, slot in enumerate(_list(data["slots"], f"{path}.slots")))
    wholes = tuple(slot for slot in slots if isinstance(slot, Whole))
    most = max((len(frame) for frame in frames), default=0)
    if len(wholes) < len(slots) or not all(frames) or most != len(slots) + 1 or frames != tuple(sorted(set(frames))):
        _refuse(path, "frames and slots that do not fit", "whole numbers, one for each gap of the longest frame")
    return Pattern(frames, wholes)


def _spelling(data: Mapping[str, Json], path: str) -> Spelling:
    alphabet, length = data["alphabet"], _int(data, "length", path, 0, MAX_WIDTH)
    if not isinstance(alphabet, str) or alphabet != "".join(sorted(set(alphabet))) or (length and not alphabet):
        _refuse(f"{path}.alphabet", _shown(alphabet), "the characters of the texts, sorted, none twice")
    return Spelling(alphabet, length)


def _listing(data: Mapping[str, Json], path: str) -> Listing:
    shortest = _int(data, "shortest", path, 0)
    return Listing(_read(data["item"], f"{path}.item"), shortest, _int(data, "longest", path, shortest, MAX_WIDTH))


def _record(data: Mapping[str, Json], path: str) -> RecordStructure:
    fields = []
    for number, row in enumerate(_list(data["fields"], f"{path}.fields")):
        place = f"{path}.fields[{number}]"
        found = _object(row, ("name", "optional", "values"), place)
        if not isinstance(found["name"], str) or not isinstance(found["optional"], bool):
            _refuse(place, _shown(row), "a 'name' that is text and an 'optional' that is true or false")
        fields.append(Field(found["name"], _read(found["values"], f"{place}.values"), found["optional"]))
    names = [field.name for field in fields]
    if names != sorted(set(names)):
        _refuse(f"{path}.fields", _shown(names), "names that are sorted, none twice")
    return RecordStructure(tuple(fields))


def _one_of(data: Mapping[str, Json], path: str) -> OneOf:
    kinds = _texts(data["kinds"], f"{path}.kinds")
    parts = tuple(_read(part, f"{path}.parts[{i}]") for i, part in enumerate(_list(data["parts"], f"{path}.parts")))
    if not kinds or kinds != tuple(sorted(set(kinds))) or not set(kinds) <= KIND_NAMES:
        _refuse(f"{path}.kinds", _shown(data["kinds"]), f"some of {', '.join(sorted(KIND_NAMES))}, sorted, none twice")
    fits = len(kinds) == len(parts) and all(map(isinstance, parts, map(_PARTS_OF_KIND.__getitem__, kinds)))
    if not fits:
        _refuse(f"{path}.parts", f"{len(parts)} parts", f"one for each of the kinds {', '.join(kinds)}, and fit for it")
    return OneOf(kinds, parts)


_READERS: Final[dict[str, tuple[tuple[str, ...], Callable[[Mapping[str, Json], str], Part]]]] = {
    "null": ((), lambda data, path: Null()),
    "flag": ((), lambda data, path: Flag()),
    "whole": (("low", "exponent"), _whole),
    "real": (("exponent",), _real),
    "category": (("values",), _category),
    "pattern": (("frames", "slots"), _pattern),
    "spelling": (("alphabet", "length"), _spelling),
    "listing": (("item", "shortest", "longest"), _listing),
    "record": (("fields",), _record),
    "one_of": (("kinds", "parts"), _one_of),
}
"""By the name of a part: its keys and what builds it."""


def _object(data: Json, keys: tuple[str, ...], path: str) -> dict[str, Any]:
    if not isinstance(data, dict) or set(data) != set(keys):
        _refuse(path, _shown(sorted(data) if isinstance(data, dict) else data), f"an object with {', '.join(keys)}")
    return data


def _list(data: Json, path: str) -> list[Json]:
    if not isinstance(data, list):
        _refuse(path, _shown(data), "a list")
    return data


def _texts(data: Json, path: str) -> tuple[str, ...]:
    if not isinstance(data, list) or not all(isinstance(text, str) for text in data):
        _refuse(path, _shown(data), "a list of texts")
    return tuple(data)


def _int(data: Mapping[str, Json], key: str, path: str, low: int | None = None, high: int | None = None) -> int:
    value = data[key]
    if type(value) is not int or (low is not None and value < low) or (high is not None and value > high):
        limits = "" if low is None else f" from {low}" + ("" if high is None else f" to {high}")
        _refuse(f"{path}.{key}", _shown(value), f"a whole number{limits}")
    return value


def _refuse(path: str, given: str, expected: str) -> NoReturn:
    raise SchemaFormatError(f"the stored schema is damaged: {path} is {given}, expected was {expected}; {ADVICE}.")


def _shown(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
