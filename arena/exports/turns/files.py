"""Reads and writes files of rows, as JSON lines and as Parquet; one broken row is named, and the others are read."""

import importlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.exports.turns import schema
from arena.exports.turns.schema import Row
from arena.usage import UsageError
from cwm.storage.files import json_line, write_whole
from games.extras import install

LINES, TABLE = ".jsonl", ".parquet"
"""Endings."""
TABLES = "parquet"
"""The folder of tables: the library `datasets` reads one format a folder."""


def write(folder: Path, name: str, rows: Sequence[Row], columns: Mapping[str, Any]) -> None:
    """Writes rows as `NAME.jsonl`, and as `parquet/NAME.parquet` where pyarrow is installed.

    Raises:
        OSError: a file cannot be written.
    """
    lines = folder / f"{name}{LINES}"
    write_whole(lines, "".join(f"{json_line({key: row[key] for key in columns})}\n" for row in rows))
    pa = _pyarrow(None)
    if pa is None:
        return
    table, file = folder / TABLES / f"{name}{TABLE}", io.BytesIO()
    table.parent.mkdir(exist_ok=True)
    parquet = importlib.import_module("pyarrow.parquet")
    parquet.write_table(pa.Table.from_pylist(list(rows), schema=schema.arrow(columns, pa)), file)
    write_whole(table, file.getvalue())


def read(path: Path) -> Iterator[tuple[int, Any, str | None]]:
    """Yields number (from 1), row and problem of every row; the row is None where it cannot be read at all.

    Raises:
        UsageError: the ending is unknown, the file cannot be read, or pyarrow is not installed.
    """
    if path.suffix == TABLE:
        yield from ((number, row, None) for number, row in enumerate(_table(path), start=1))
        return
    if path.suffix != LINES:
        raise UsageError(f"{path} ends in {path.suffix or 'nothing'}; rows are read from {LINES} or {TABLE}.")
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}; give a file of rows.") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line), None
        except ValueError as error:
            yield number, None, f"it is no JSON ({error})"


def _table(path: Path) -> list[Row]:
    _pyarrow(path)
    try:
        found: list[Row] = importlib.import_module("pyarrow.parquet").read_table(path).to_pylist()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error}; give a file of rows.") from error
    except ValueError as error:  # pyarrow's own errors derive from it
        raise UsageError(f"{path} is no Parquet file: {error}.") from error
    return found


def _pyarrow(needed_by: Path | None) -> Any | None:
    try:
        return importlib.import_module("pyarrow")
    except ImportError as error:
        if needed_by is None:
            return None
        raise UsageError(
            f"{needed_by} needs pyarrow, which is not installed: {install('parquet')}, or give the {LINES} file."
        ) from error
