"""The published numbers of the paper on language models in Hanabi, each with the place where it is printed.

`results.json` holds them. A row names what of ours stands beside it: a bot, or a scaffold in a table of prompts. All
are points kept (fireworks count after a third bomb, too) unless a row says `strict`.
"""

import json
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

POINTS: Final = "points"
STRICT: Final = "strict"
_DATA: Final[dict[str, Any]] = json.loads(
    resources.files(__package__).joinpath("results.json").read_text(encoding="utf-8")
)
TITLE: Final[str] = _DATA["title"]


@dataclass(frozen=True)
class PublishedLine:
    """One row of a table.

    Attributes:
        label: who played, as printed.
        cells: means, one a column; None where none is printed, or our copy of the paper has lost it.
        scoring: `points` or `strict` (nothing after a third bomb).
        remark: what is said of it in words, "" for nothing.
        bot: partner of ours that plays by the same rules, None for none.
        scaffold: of ours that asks as this row does, in a table of prompts; None elsewhere.
    """

    label: str
    cells: tuple[float | None, ...]
    scoring: str = POINTS
    remark: str = ""
    bot: str | None = None
    scaffold: str | None = None


@dataclass(frozen=True)
class PublishedTable:
    """A table or figure about play.

    Attributes:
        name: for people to choose it by.
        title: what was played.
        source: where it is printed.
        columns: numbers of players (`2p`), or what is averaged.
        rows: of numbers.
        errata: what contradicts it, or has to be known to read it.
    """

    name: str
    title: str
    source: str
    columns: tuple[str, ...]
    rows: tuple[PublishedLine, ...]
    errata: tuple[str, ...]


def _table(data: dict[str, Any]) -> PublishedTable:
    lines = tuple(PublishedLine(**{**row, "cells": tuple(row["cells"])}) for row in data["rows"])
    errata = tuple(_DATA["errata"][key] for key in data["errata"])
    return PublishedTable(data["name"], data["title"], data["source"], tuple(data["columns"]), lines, errata)


TABLES: Final = tuple(map(_table, _DATA["tables"]))
"""In the order of the paper; last what others published of bots."""
