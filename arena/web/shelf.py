"""What lies in the folders that the server was given, games and runs: pages name it by keys."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from arena.matches import store
from cwm.record.record import JOURNAL_FILE, RUN_FILE

Kind: TypeAlias = Literal["games", "trajectories", "run"]

DEPTH: Final = 3
"""Folders below a given one that are looked into."""
MOST: Final = 2000
"""Things that are listed."""
SUFFIXES: Final = (".jsonl", ".jsonl.gz")
INNER: Final = frozenset({"programs", "tables", "model"})
"""Folders of a run in which there is nothing to look at."""


@dataclass(frozen=True)
class Found:
    """Something to look at.

    Attributes:
        key: what pages call it.
        kind: stored games, a file of trajectories, or a run.
        path: where it lies.
        title: where it lies, for people.
        changed: when, seconds since 1970.
    """

    key: str
    kind: Kind
    path: Path
    title: str
    changed: float


class Shelf:
    """Finds what may be looked at; an address is a key that was given out here.

    Args:
        places: folders and files.
    """

    def __init__(self, places: Sequence[Path]) -> None:
        self._places = tuple(places)
        self._found: dict[str, Found] = {}
        self._keys: dict[tuple[Kind, Path], str] = {}
        self._lock = threading.Lock()

    def get(self, key: str, *kinds: Kind) -> Found | None:
        """Returns what has this key and one of these kinds, None if nothing has."""
        found = self._found.get(key)
        return found if found is not None and found.kind in kinds else None

    def look(self) -> list[Found]:
        """Looks into the folders again and returns all that is there, newest first."""
        with self._lock:
            seen = [self._known(kind, path) for place in self._places for kind, path in _within(place, DEPTH)]
        return sorted({found.key: found for found in seen}.values(), key=lambda found: -found.changed)[:MOST]

    def _known(self, kind: Kind, path: Path) -> Found:
        key = self._keys.setdefault((kind, path), f"s{len(self._keys)}")
        self._found[key] = Found(key, kind, path, str(path), changed(kind, path))
        return self._found[key]


def changed(kind: Kind, path: Path) -> float:
    """Returns when something was last written to, seconds since 1970; 0 if it is gone."""
    journals = {"games": store.FILE_NAME, "run": JOURNAL_FILE}
    names = (journals[kind], f"{journals[kind]}-wal") if kind in journals else ()
    times = []
    for place in [path, *(path / name for name in names)]:
        try:
            times.append(place.stat().st_mtime)
        except OSError:
            continue
    return max(times, default=0.0)


def _within(place: Path, depth: int) -> Iterator[tuple[Kind, Path]]:
    if place.is_file():
        if place.name.endswith(SUFFIXES):
            yield "trajectories", place
        return
    if (place / RUN_FILE).is_file():
        yield "run", place
    if (place / store.FILE_NAME).is_file():
        yield "games", place
    if depth == 0:
        return
    try:
        inner = sorted(place.iterdir())
    except OSError:
        return
    for other in inner:
        if not other.is_symlink() and other.name not in INNER and not other.name.startswith("."):
            yield from _within(other, depth - 1)
