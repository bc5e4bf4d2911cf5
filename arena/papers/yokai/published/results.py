"""The published results of the Yōkai Learning Environment paper, each number once: `results.json`.

`results` holds what was trained and found, by the folder of a training of ours. A row of `tables`, or an agent of
`shown`, names its result, and says what the paper prints otherwise there.
"""

import json
from importlib import resources
from typing import Any, Final

_DATA: Final[dict[str, Any]] = json.loads(
    resources.files(__package__).joinpath("results.json").read_text(encoding="utf-8")
)
SHOWN_SOURCE: Final[str] = _DATA["shown_source"]
TABLES: Final = tuple(map(int, _DATA["tables"]))


def of_table(table: int) -> list[dict[str, Any]]:
    """Returns the rows of a table: its label and all that is known of its result."""
    return [_filled_in(row) for row in _DATA["tables"][str(table)]]


def shown(game: str) -> list[dict[str, Any]]:
    """Returns the agents of a game that ours are shown beside, [] if there are none."""
    return [_filled_in(row) for row in _DATA["shown"].get(game, ())]


def _filled_in(row: dict[str, Any]) -> dict[str, Any]:
    return {**_DATA["results"].get(row.get("result"), {}), **row}
