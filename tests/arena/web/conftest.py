"""A browser that has opened the address of the server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def own_game(tmp_path: Path) -> str:
    """A game of somebody's own, whose every word is markup."""
    # What needs an extra is imported where a test does: pytest reads this file before any test may say so.
    from tests.arena.web.pages import HOSTILE_GAME

    place = tmp_path / "own.py"
    place.write_text(HOSTILE_GAME, encoding="utf-8")
    return f"python:{place}:Game"


@pytest.fixture
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_game: str) -> Iterator[Any]:
    """A browser that has opened the address; games are kept in a folder of the test."""
    from tests.arena.web.pages import Browser, Lobby

    monkeypatch.chdir(tmp_path)
    lobby = Lobby([own_game], ["python:agent.py:Mine"])
    opened = Browser(lobby, (tmp_path,)).enter()
    yield opened
    lobby.close()
    opened.stock.close()
