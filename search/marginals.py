"""What a belief says of each part of the state that it leaves open."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from games.api import Json

MOST_PARTS = 80
"""Parts that are told, in the order in which the states list them."""
MOST_VALUES = 12
"""Values of one part, the likeliest first."""
LONGEST = 60
"""Characters of a value."""


def shares(believed: Sequence[tuple[float, Json]]) -> list[list[Any]]:
    """Returns [[part, [[value, share], …]], …], the likeliest value first; [] where nothing is open.

    A part is a path into the state, its names joined by dots. Of a list of texts none of which occurs twice, as a hand
    of cards is, the shares are those of each text to be in it; of any other list, those of each place.

    Args:
        believed: (weight, state as JSON) of what is thought possible.
    """
    total = sum(weight for weight, _ in believed)
    if total <= 0:
        return []
    found: dict[str, dict[str, float]] = {}
    for weight, state in believed:
        for part, value in _parts(state, ""):
            own = found.setdefault(part, {})
            own[value] = own.get(value, 0.0) + weight / total
    told: list[list[Any]] = []
    for part, own in found.items():
        if all(share > 1 - 1e-9 for share in own.values()):
            continue
        likeliest = sorted(own.items(), key=lambda item: -item[1])[:MOST_VALUES]
        told.append([part, [[value, round(min(1.0, share), 4)] for value, share in likeliest]])
    return told[:MOST_PARTS]


def _parts(value: Json, path: str) -> Iterator[tuple[str, str]]:
    """Yields (part, value) of a state."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _parts(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list) and _is_set(value):
        for inner in value:
            yield path, str(inner)[:LONGEST]
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _parts(inner, f"{path}.{number}" if path else str(number))
    else:
        yield path, (value if isinstance(value, str) else json.dumps(value))[:LONGEST]


def _is_set(value: list[Any]) -> bool:
    return len(value) > 0 and all(isinstance(item, str) for item in value) and len(set(value)) == len(value)
