"""The one schema of rows, a decision each: lists and texts alone, so that all files have the same columns."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

VERSION: Final = 1

Row: TypeAlias = dict[str, Any]

MESSAGE: Final = {"role": "str", "content": "str"}
SLOT: Final = {"player": "int", "slot": "int", "colours": "str", "ranks": "str"}

LOGS: Final[Mapping[str, Any]] = {
    "game_id": "str",
    "row": "int",
    "variant": "str",
    "players": "int",
    "deck": ["str"],
    "deck_name": "str",
    "scaffold": "str?",
    "scaffold_hash": "str?",
    "model": "str?",
    "agent": "str",
    "seat": "int",
    "turn": "int",
    "prompt": [MESSAGE],
    "response": "str",
    "reasoning": "str?",
    "legal": ["str"],
    "action": "str?",
    "action_index": "int?",
    "ratings": ["float?"],
    "ratings_by": "str?",
    "q": ["float?"],
    "q_se": ["float?"],
    "worlds": "int?",
    "deduction": [SLOT],
    "truth": [SLOT],
    "state": "str",
    "since": "str",
    "role": "str?",
    "points": "float?",
    "strict": "float?",
    "bombed": "bool?",
    "forfeit": "str?",
    "input_tokens": "int",
    "output_tokens": "int",
    "schema_version": "int",
}
"""Columns and what they hold: a kind (`?`: or null), a list of one kind, or objects with named columns."""
SFT: Final[Mapping[str, Any]] = {"prompt": [MESSAGE], "completion": [MESSAGE], "messages": [MESSAGE]}
RLVR: Final[Mapping[str, Any]] = {"prompt": [MESSAGE], "answer": "str", "info": "str", "example_id": "int"}
COLUMNS: Final[Mapping[str, Mapping[str, Any]]] = {"logs": LOGS, "rewards": LOGS, "sft": SFT, "rlvr": RLVR}
"""Columns by the form of the export."""

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
}
_HUGGING: Final = {"str": "string", "int": "int64", "float": "float64", "bool": "bool"}


def problem(row: Any, columns: Mapping[str, Any] = LOGS) -> str | None:
    """Returns what is wrong with the form of a row, None if nothing is."""
    if not isinstance(row, dict):
        return f"it is a {type(row).__name__}, expected an object with {len(columns)} columns"
    missing = [name for name in columns if name not in row]
    if missing:
        return f"it lacks {', '.join(missing)}"
    unknown = sorted(set(row) - set(columns))
    if unknown:
        return f"it has the unknown columns {', '.join(unknown)}"
    return next((wrong for name, kind in columns.items() if (wrong := _wrong(row[name], kind, name)) is not None), None)


def _wrong(value: Any, kind: Any, name: str) -> str | None:
    if isinstance(kind, list):
        if not isinstance(value, list):
            return f"{name} is {_shown(value)}, expected a list"
        parts = (_wrong(item, kind[0], f"{name}[{number}]") for number, item in enumerate(value))
        return next((wrong for wrong in parts if wrong is not None), None)
    if isinstance(kind, Mapping):
        if not isinstance(value, dict) or set(value) != set(kind):
            return f"{name} is {_shown(value)}, expected an object with {', '.join(kind)}"
        parts = (_wrong(value[key], kind[key], f"{name}.{key}") for key in kind)
        return next((wrong for wrong in parts if wrong is not None), None)
    plain = kind.removesuffix("?")
    if value is None and plain != kind:
        return None
    right = isinstance(value, _TYPES[plain]) and (plain == "bool" or not isinstance(value, bool))
    return None if right else f"{name} is {_shown(value)}, expected {plain}{' or null' if plain != kind else ''}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def numbers(values: Sequence[float | None]) -> list[float | None]:
    """Returns figures of the legal moves, [] where none is known: a column of nothing but nulls has no type in JSON."""
    return list(values) if any(value is not None for value in values) else []


def features(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the columns as the data card of a data set tells them to `datasets`."""
    return [{"name": name, **_feature(kind)} for name, kind in columns.items()]


def _feature(kind: Any) -> dict[str, Any]:
    if isinstance(kind, list):
        inner = kind[0]
        return {"list": features(inner) if isinstance(inner, Mapping) else _HUGGING[inner.removesuffix("?")]}
    return {"dtype": _HUGGING[kind.removesuffix("?")]}


def arrow(columns: Mapping[str, Any], pa: Any) -> Any:
    """Returns the columns as a schema of pyarrow, which is given."""
    plain = {"str": pa.string(), "int": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}

    def made(kind: Any) -> Any:
        if isinstance(kind, list):
            return pa.list_(made(kind[0]))
        if isinstance(kind, Mapping):
            return pa.struct([(key, made(inner)) for key, inner in kind.items()])
        return plain[kind.removesuffix("?")]

    return pa.schema([(name, made(kind)) for name, kind in columns.items()])
