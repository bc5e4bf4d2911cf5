"""The card of a data set, `README.md`: what is in it, in the form that the library `datasets` reads."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from arena.exports.turns import schema
from arena.exports.turns.schema import Row
from cwm.storage.files import write_whole

FILE: Final = "README.md"
_ABOUT: Final[Mapping[str, str]] = {
    "logs": "Every decision with its question, answer, legal moves, state and truth.",
    "rewards": "Decisions whose legal moves are rated.",
    "sft": "Questions and the answers that were played, for supervised training on the completion.",
    "rlvr": "Questions, and in `info` what the functions of `cwm.rewards` work rewards out from.",
}


def write(
    folder: Path, form: str, columns: Mapping[str, Any], splits: Mapping[str, Sequence[Row]], ending: str
) -> None:
    """Writes the card.

    Args:
        folder: of the files.
        form: of their rows.
        columns: of their rows.
        splits: the rows by split, as they were before they took their form.
        ending: of the files.
    """
    data_files = [{"split": name, "path": f"{name}{ending}"} for name in splits]
    head = {
        "configs": [{"config_name": "default", "data_files": data_files}],
        "dataset_info": [{"config_name": "default", "features": schema.features(columns)}],
    }
    rows = [row for part in splits.values() for row in part]
    lines = [
        "---",
        # YAML takes JSON.
        *(f"{name}: {json.dumps(value)}" for name, value in head.items()),
        "---",
        "",
        f"# Decisions of {', '.join(sorted({row['variant'] for row in rows}))}",
        "",
        _ABOUT[form],
        "",
        "| split | rows | games | decks |",
        "|---|---|---|---|",
        *(_line(name, part) for name, part in splits.items()),
        "",
        f"Agents: {', '.join(sorted({row['agent'] for row in rows}))}. Splits are by deck: no deal is in two of them.",
        "Points count the cards on the table even where the last life was lost; strict is 0 then.",
        f"Schema version {schema.VERSION}.",
        "",
    ]
    write_whole(folder / FILE, "\n".join(lines))


def _line(name: str, rows: Sequence[Row]) -> str:
    return f"| {name} | {len(rows)} | {_count(rows, 'game_id')} | {_count(rows, 'deck_name')} |"


def _count(rows: Sequence[Row], column: str) -> int:
    return len({row[column] for row in rows})
