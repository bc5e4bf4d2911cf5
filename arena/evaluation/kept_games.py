"""Played games in the user's cache, as their actions: what cost minutes of search is played once."""

import contextlib
import hashlib
import json
import re
import sys
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cwm.storage.keys import content_key
from games.api import Action

FOLDER = "held-out"
_ROOT = Path(__file__).resolve().parents[2]
_DECISIVE = (
    "games/**/*.py",
    "search/*.py",
    "arena/evaluation/mixture.py",
    "cwm/trajectories/recorded.py",
)
"""What a game by our players depends on beside its seed: files of ours, by patterns."""
_KEY_LENGTH = 16


class KeptGames:
    """The games that one game and seed have given so far, by number. Safe to be written by several processes.

    A line says which game it is and what was done in it, with a checksum: one that is damaged, or cut off by a kill, is
    passed over. Games that were played by other code have another file.

    Args:
        folder: of the cache.
        game: registry id.
        seed: of the games.
    """

    def __init__(self, folder: Path, game: str, seed: int) -> None:
        key = content_key({"game": game, "seed": seed, "code": _code(), "python": sys.version_info[:2]})
        readable = re.sub(r"[^A-Za-z0-9_-]+", "-", game)[:40]
        self._path = folder / FOLDER / f"{readable}-{key[:_KEY_LENGTH]}.jsonl"
        self._actions = dict(filter(None, map(_read, self._lines())))

    def __contains__(self, index: int) -> bool:
        return index in self._actions

    def __getitem__(self, index: int) -> list[Action]:
        """Returns the actions of game `index`, chance's included."""
        return self._actions[index]

    def drop(self, index: int) -> None:
        """Forgets a game that is none by the rules; it is written again when it was played."""
        del self._actions[index]

    def add(self, index: int, actions: Sequence[Action]) -> None:
        """Keeps a game; where nothing can be written it is played again next time."""
        self._actions[index] = list(actions)
        data = [index, list(actions)]
        line = json.dumps([content_key(data)[:_KEY_LENGTH], *data]) + "\n"
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # One write to the end of the file: lines of several processes do not mix.
            with self._path.open("ab", buffering=0) as file:
                file.write(line.encode("ascii"))

    def _lines(self) -> list[str]:
        with contextlib.suppress(OSError):
            return self._path.read_text(encoding="ascii", errors="replace").splitlines()
        return []


def _read(line: str) -> tuple[int, list[Action]] | None:
    """Returns the number and the actions of a game, None if the line is damaged."""
    try:
        check, index, actions = json.loads(line)
    except (ValueError, TypeError):
        return None
    data: list[Any] = [index, actions]
    return (index, actions) if check == content_key(data)[:_KEY_LENGTH] else None


@cache
def _code() -> str:
    """Returns a digest of everything that decides how a seed's games go."""
    digest = hashlib.sha256(version("open_spiel").encode())
    for path in sorted(path for pattern in _DECISIVE for path in _ROOT.glob(pattern)):
        digest.update(path.relative_to(_ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
