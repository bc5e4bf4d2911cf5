"""A browser's requests to the pages, without a browser."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from starlette.testclient import TestClient

from arena.web import app
from arena.web.lobby import Lobby
from arena.web.shelf import Shelf
from arena.web.stock import Stock

PORT = 8123
TOKEN = "a token of this test"
HERE = {"origin": f"http://127.0.0.1:{PORT}"}


class Browser:
    """What a page of the server can ask it."""

    def __init__(self, lobby: Lobby, places: tuple[Path, ...] = ()) -> None:
        self.stock, self.shelf = Stock([]), Shelf(places)
        application = app.application(lobby, self.shelf, self.stock, PORT, TOKEN)
        self.client = TestClient(application, base_url=f"http://127.0.0.1:{PORT}", follow_redirects=False)
        self.lobby = lobby

    def enter(self) -> "Browser":
        """Opens the address that the server printed."""
        assert self.client.get(f"/?token={TOKEN}").status_code == 303
        return self

    def get(self, path: str) -> Any:
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, data: object, status: int = 200) -> Any:
        answer = self.client.post(path, json=data, headers=HERE)
        assert answer.status_code == status, answer.text
        return answer.json()

    def key(self, game: str) -> str:
        """Returns what pages call a game."""
        return next(offer.key for offer in self.lobby.offers.values() if offer.name == game)

    def sit(self, game: str, agents: tuple[str, ...] = ("random",), seat: int = 0, **wishes: Any) -> str:
        """Begins a game and returns the address of its data."""
        wanted = {"game": self.key(game), "seat": seat, "agents": list(agents), "view": "default", "seed": 7}
        return f"/api/tables/{self.post('/api/tables', wanted | wishes)['table']}"

    def until(self, table: str, met: Callable[[Any], bool]) -> Any:
        """Returns what is told of a table as soon as it meets a condition."""
        version, end = "", time.monotonic() + 60
        while time.monotonic() < end:
            told = self.get(f"{table}?version={version}")
            if met(told):
                return told
            assert told["phase"] != "failed", told["error"]
            version = told["version"]
        raise AssertionError("the table did not come so far")

    def play_on(self, table: str, choose: Callable[[Any], str]) -> Any:
        """Plays a game to its end and returns what is told then."""
        while True:
            told = self.until(table, lambda now: bool(now["legal"]) or now["phase"] == "over")
            if told["phase"] == "over":
                return told
            self.post(f"{table}/move", {"turn": told["turn"], "action": choose(told)})


@pytest.fixture
def own_game(tmp_path: Path) -> str:
    """A game of somebody's own, whose every word is markup."""
    place = tmp_path / "own.py"
    place.write_text(HOSTILE_GAME, encoding="utf-8")
    return f"python:{place}:Game"


@pytest.fixture
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_game: str) -> Iterator[Browser]:
    """A browser that has opened the address; games are kept in a folder of the test."""
    monkeypatch.chdir(tmp_path)
    lobby = Lobby([own_game], ["python:agent.py:Mine"])
    opened = Browser(lobby, (tmp_path,)).enter()
    yield opened
    lobby.close()
    opened.stock.close()


SCRIPT = "<script>alert(1)</script>"
HOSTILE_GAME = f"""
from games.api import GameInfo
BAD = {SCRIPT!r}
class Game:
    info = GameInfo("own" + BAD, 2, "zero_sum", -1.0, 1.0, True, False, (BAD, "two"), 2)
    def initial_state(self): return []
    def current_player(self, state): return len(state) if len(state) < 2 else -4
    def legal_actions(self, state): return [BAD, "'onload=alert(1)"] if len(state) < 2 else []
    def chance_outcomes(self, state): return []
    def apply_action(self, state, action): return [*state, action]
    def rewards(self, state): return [0.0, 0.0]
    def observations(self, state): return [{{BAD: state}}, {{BAD: state}}]
    def render(self, state, player=None): return BAD * 3
"""


def markup_of(page: str) -> str:
    """Returns a page without its title: the rest names nothing that others wrote but keys of the server."""
    return re.sub(r"<title>.*?</title>", "", page)
