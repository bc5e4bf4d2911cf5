"""The published numbers of the OvercookedV2 paper, as `results.json` holds them: mean and standard deviation."""

import json
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

_DATA: Final[dict[str, Any]] = json.loads(
    resources.files(__package__).joinpath("results.json").read_text(encoding="utf-8")
)
TITLE: Final[str] = _DATA["title"]
SEEDS: Final = 10
EPISODES: Final = 500
"""Of every ordered pair."""


@dataclass(frozen=True)
class PublishedCross:
    """One method on one layout.

    Attributes:
        layout: as in our ids, e.g. `cramped-room`.
        method: our name of it, e.g. `sp`.
        sp: return in self-play, mean and standard deviation over policies.
        xp: return in cross-play, over pairs.
    """

    layout: str
    method: str
    sp: tuple[float, float]
    xp: tuple[float, float]


@dataclass(frozen=True)
class PublishedReturns:
    """A table of returns.

    Attributes:
        name: for people to choose it by.
        title: what was played.
        source: where it is printed.
        note: what has to be known to read it, "" for nothing.
        rows: in the order of the paper.
    """

    name: str
    title: str
    source: str
    note: str
    rows: tuple[PublishedCross, ...]


def _table(name: str, data: dict[str, Any]) -> PublishedReturns:
    rows = tuple(
        PublishedCross(row["layout"], row["method"], tuple(row["sp"]), tuple(row["xp"])) for row in data["rows"]
    )
    return PublishedReturns(name, data["title"], data["source"], data["note"], rows)


TABLES: Final = tuple(_table(name, data) for name, data in _DATA["tables"].items())
