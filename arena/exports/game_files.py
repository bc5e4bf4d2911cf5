"""Stored games as files for other programs: step by step as trajectories, game by game as JSON or a Parquet table."""

import importlib
import io
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from arena.matches.match import GameRecord
from arena.usage import UsageError
from cwm.storage.files import json_line, write_whole
from games.extras import install

STEPS = (".jsonl", ".jsonl.gz")
"""Endings of trajectories, the one format of played games, see `cwm/TRAJECTORIES.md`."""
RECORDS = (".json", ".parquet")
"""Endings of what the arena keeps of a game: who sat where, who forfeited and why, what each decision took."""
_AS_TEXT = ("actions", "outcome", "forfeit", "fallbacks", "model_errors", "accounts", "seconds")
"""Columns of the Parquet table that hold JSON text: what is in them depends on the game."""
_KEPT = ("thoughts", "deck")
"""More such columns, where some game kept what was considered, or was dealt a named deck."""


def check(path: Path) -> None:
    """Checks the name of a file to be written, and that its library is there.

    Raises:
        UsageError: the ending is unknown, or Parquet is asked for and pyarrow is not installed.
    """
    if not path.name.endswith(STEPS + RECORDS):
        raise UsageError(
            f"{path} ends in {path.suffix or 'nothing'}; games are written step by step as {' or '.join(STEPS)}, or "
            f"game by game as {' or '.join(RECORDS)}."
        )
    if path.suffix == ".parquet":
        _pyarrow("pyarrow")


def holds_steps(path: Path) -> bool:
    """Whether a file of this name holds trajectories."""
    return path.name.endswith(STEPS)


def write(path: Path, games: Mapping[str, GameRecord]) -> None:
    """Writes games, one a line or a row, by key; an existing file is replaced.

    Args:
        path: ends in one of `RECORDS`.
        games: by key.

    Raises:
        UsageError: see `check`.
        OSError: the file cannot be written.
    """
    check(path)
    rows = [{"key": key, **_row(games[key])} for key in sorted(games)]
    if path.suffix == ".json":
        write_whole(path, "[" + ",".join("\n" + json_line(row) for row in rows) + "\n]\n")
        return
    _write_table(path, rows)


def _row(game: GameRecord) -> dict[str, Any]:
    """Returns the fields of a game; what nobody asked to be kept is no field, as in files from before it could be."""
    return {name: value for name, value in asdict(game).items() if value or name not in _KEPT}


def _write_table(path: Path, rows: list[dict[str, Any]]) -> None:
    pa, parquet = _pyarrow("pyarrow"), _pyarrow("pyarrow.parquet")
    as_text = [*_AS_TEXT, *(name for name in _KEPT if any(name in row for row in rows))]
    schema = pa.schema(
        [
            ("key", pa.string()),
            ("game", pa.string()),
            ("deal_seed", pa.int64()),
            ("seats", pa.list_(pa.string())),
            ("paid", pa.list_(pa.float64())),
            ("returns", pa.list_(pa.float64())),
            ("length", pa.int64()),
            ("sandbox", pa.string()),
            *((name, pa.string()) for name in as_text),
        ]
    )
    table = pa.Table.from_pylist([_flat(row) for row in rows], schema=schema)
    file = io.BytesIO()
    parquet.write_table(table, file)
    write_whole(path, file.getvalue())


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: json.dumps(value, sort_keys=True) if name in (*_AS_TEXT, *_KEPT) and value is not None else value
        for name, value in row.items()
    }


def _pyarrow(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UsageError(
            f"Parquet files need pyarrow, which is not installed: {install('parquet')}, or write a .json file."
        ) from error
