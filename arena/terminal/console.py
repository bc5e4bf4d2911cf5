"""Where output goes: results to stdout, progress and notices to stderr, JSON without decoration."""

import json
import os
import sys
from typing import Any, Final

from rich.console import Console

FILE_WIDTH: Final = 200
"""Columns where output goes to a file or a pipe and `COLUMNS` is not set: wide enough for every table of ours."""


def _made(stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or os.environ.get("COLUMNS") else FILE_WIDTH
    # No markup and no emoji codes: names and messages of others may hold [x] or :m: and are shown as they are.
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False, soft_wrap=True, width=width)


out = _made(stderr=False)
notices = _made(stderr=True)


def plain(text: str) -> str:
    """Returns a language model's text without characters that a terminal would obey: only lines and tabs are left."""
    return "".join(
        letter if letter.isprintable() or letter in "\n\t" else "\N{REPLACEMENT CHARACTER}" for letter in text
    )


def print_json(data: Any) -> None:
    """Prints one JSON document to stdout."""
    # Elsewhere characters are replaced by near ones, which may not happen to data.
    escaped = not (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
    json.dump(data, sys.stdout, indent=2, ensure_ascii=escaped, allow_nan=False)
    sys.stdout.write("\n")
