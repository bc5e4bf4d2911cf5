"""What a command wrote, line by line, with all masked that two trees may differ in; used by `compare_trees.py`."""

import csv
import hashlib
import io
import json
import re
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

MASK: Final = "<masked>"

FIELDS: Final = {
    "calls_per_s": "speed of a program",
    "latency_s": "seconds that an answer took",
    "seconds": "times of moves, tests, calls and runs",
    "speed": "steps a second of a training on a model",
    "steps_per_second": "steps a second of a batched training",
    "created": "when a run began",
    "git_revision": "revision of the checkout",
}
"""Fields of JSON and columns of tables whose values are masked, wherever they stand."""
OWN_SOURCE: Final = {
    "file": "path of our own source",
    "file_line": "line in our own source",
    "shared_with": "path and line of our own source",
    "source": "hash of all our own source",
}
"""Fields that are masked in files called `similarity` alone."""
WORDING: Final = {"message": "wording of an error, in tables of faults and of failed calls"}
TEXT: Final = (
    (re.compile(r"(?<![\w.])\d[\d,]*(\.\d+)? ?(µs|ms|s|min)(?!\w)"), "a time, e.g. `5.5 ms`"),
    (re.compile(r"\d[\d,]*(\.\d+)? (calls|steps|games)(/| a )s(econd)?\b"), "a speed, e.g. `121,364 calls/s`"),
    (re.compile(r"\b\w+(/\w+)*\.py, line \d+"), "path and line of our own source"),
    (re.compile(r"\(model \d+%, encoding \d+%, transport \d+%, policy \d+%, update \d+%\)"), "shares of a time"),
)
"""Masked in printed text; also spaces and lines between cells, since they follow the width of what is masked."""
PROFILE: Final = (
    re.compile(r"(?m)(?:^[^\n]{0,60}\d % of the time[^\n]*\n+)+"),
    "request for a faster program: the profile in it, and so its key and its number of tokens",
)
NOT_READ: Final = {
    "report.html": "pages: times stand all over them; golden pages have tests of their own",
    "*.lock, lock": "lock files, in which a process's number stands",
    "tensorboard/": "events for TensorBoard: times, and the host in their names",
    "*-wal, *-shm": "SQLite's logs, read with their file",
    "standard error": "progress and the wording of errors; the exit code is compared",
}


def masked(value: Any, fields: frozenset[str]) -> Any:
    """Returns JSON with the values of some fields masked, and profiles in its texts."""
    if isinstance(value, str):
        return PROFILE[0].sub(MASK, value)
    if isinstance(value, dict):
        return {key: MASK if key in fields else masked(item, fields) for key, item in value.items()}
    return [masked(item, fields) for item in value] if isinstance(value, list) else value


def plain(text: str) -> list[str]:
    """Returns the lines of printed text, masked; one JSON document is masked by its fields instead."""
    if text[:1] in ("{", "["):
        try:
            return document(text, frozenset(FIELDS))
        except ValueError:
            pass
    for pattern, _ in TEXT:
        text = pattern.sub(MASK, text)
    text = re.sub(r"[─━]+", "─", text)
    return [re.sub(r" +", " ", line).strip() for line in text.splitlines()]


def document(text: str, fields: frozenset[str], indent: int | None = 1) -> list[str]:
    """Returns the lines of a JSON document: as they are where nothing in it is masked, else written anew."""
    value = json.loads(text)
    hidden = masked(value, fields)
    return text.splitlines() if hidden == value else json.dumps(hidden, indent=indent, ensure_ascii=False).splitlines()


def database(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yields each table of an SQLite file: its rows, masked, in the order of their text.

    Where a row fails, the wording is masked; `message` is empty in all others.
    """
    fields = frozenset(FIELDS)
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in sorted(tables):
            cursor = connection.execute(f"SELECT * FROM {table}")
            names = [column[0] for column in cursor.description]
            rows = []
            for row in cursor:
                cells = {
                    name: cell.hex() if isinstance(cell, bytes) else cell for name, cell in zip(names, row, strict=True)
                }
                cells |= {name: MASK for name in names if name in WORDING and cells[name]}
                hidden = fields | {"key", "input_tokens"} if cells.get("purpose") == "faster" else fields
                for name, cell in cells.items():
                    if isinstance(cell, str) and cell[:1] in ("{", "["):
                        cells[name] = json.loads(cell)
                rows.append(json.dumps(masked(cells, hidden), ensure_ascii=False))
            yield table, sorted(rows)


def arrays(path: Path) -> list[str]:
    """Returns a line for each array of a safetensors file, and one for all its bytes."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    lines = [f"metadata {header.pop('__metadata__', None)}"]
    for name, about in sorted(header.items()):
        begin, end = about["data_offsets"]
        lines.append(f"{name} {about['dtype']} {about['shape']} {hashlib.sha256(body[begin:end]).hexdigest()}")
    return [*lines, f"all bytes {hashlib.sha256(data).hexdigest()}"]


def file_lines(path: Path) -> list[str]:
    """Returns what a file says, masked, line by line."""
    fields = frozenset({*FIELDS, *(OWN_SOURCE if path.stem == "similarity" else ())})
    if path.suffix == ".safetensors":
        return arrays(path)
    text = path.read_bytes().decode("utf-8", "backslashreplace")
    if path.suffix == ".json":
        return document(text, fields)
    if path.suffix == ".jsonl":
        return [part for line in text.splitlines() for part in document(line, fields, indent=None)]
    if path.suffix == ".csv":
        return [json.dumps(masked(row, fields)) for row in csv.DictReader(io.StringIO(text))] + text.splitlines()[:1]
    return plain(text) if path.suffix in (".txt", ".md") else text.splitlines(keepends=True)


def is_read(path: Path) -> bool:
    """Whether a file is compared, see `NOT_READ`."""
    noise = path.name == "report.html" or path.name == "lock" or path.suffix == ".lock"
    return not noise and "tensorboard" not in path.parts and not path.name.endswith(("-wal", "-shm"))


def masks() -> list[str]:
    """Returns a line for each thing that is not compared."""
    lines = [f"field {name}: {what}" for name, what in FIELDS.items()]
    lines += [f"field {name} of similarity: {what}" for name, what in OWN_SOURCE.items()]
    lines += [f"column {name}: {what}" for name, what in WORDING.items()]
    lines += [f"printed text: {what}" for _, what in TEXT]
    lines += [PROFILE[1]]
    lines += ["printed text: number of spaces and of dashes between cells"]
    lines += ["files that a long training keeps by the clock: may be in one tree alone (`by_clock` of a command)"]
    return lines + [f"not read: {name} ({what})" for name, what in NOT_READ.items()]
