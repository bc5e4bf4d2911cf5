"""Reading back what was stored as JSON: a missing, a damaged and a foreign file are one sentence each."""

import json
from collections.abc import Callable
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def read(path: Path, make: Callable[[dict[str, Any]], T], error: Callable[[str], Exception], remedy: str) -> T:
    """Reads a file that holds one JSON object.

    Args:
        path: of the file.
        make: builds the result; its `ValueError`, `KeyError`, `TypeError` or `AttributeError` says that the file is
            damaged.
        error: what is raised, given its sentence.
        remedy: what the user is to do, e.g. `delete it`.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(data, dict):
            raise ValueError("it holds no JSON object")
        return make(data)
    except OSError as reason:
        raise error(f"{path} cannot be read ({reason.strerror}); {remedy}.") from reason
    except KeyError as reason:
        raise error(f"{path} is damaged (it lacks {reason}); {remedy}.") from reason
    except (ValueError, TypeError, AttributeError, RecursionError) as reason:
        raise error(f"{path} is damaged ({reason}); {remedy}.") from reason


def read_if_there(
    path: Path, make: Callable[[dict[str, Any]], T], error: Callable[[str], Exception], remedy: str
) -> T | None:
    """Returns what `read` returns, None if there is no such file."""
    return read(path, make, error, remedy) if path.exists() else None


def exactly(cls: Callable[..., T]) -> Callable[[dict[str, Any]], T]:
    """Returns what builds a dataclass from an object with its fields and no others.

    Raises:
        ValueError: when it is called: a field is missing or unknown; names it.
    """

    def make(data: dict[str, Any]) -> T:
        known = {item.name: item for item in fields(cls)}  # type: ignore[arg-type]
        for name in data:
            if name not in known:
                raise ValueError(f"it has {name!r}, which is none of {', '.join(known)}")
        for name, item in known.items():
            if name not in data and item.default is MISSING and item.default_factory is MISSING:
                raise KeyError(name)
        return cls(**data)

    return make
