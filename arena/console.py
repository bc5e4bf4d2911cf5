"""Where output goes: results to stdout, progress and notices to stderr, JSON without decoration."""

import json
import sys
from typing import Any

from rich.console import Console

out = Console(highlight=False, soft_wrap=True)
notices = Console(stderr=True, highlight=False, soft_wrap=True)


def print_json(data: Any) -> None:
    """Prints one JSON document to stdout."""
    json.dump(data, sys.stdout, indent=2, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")
