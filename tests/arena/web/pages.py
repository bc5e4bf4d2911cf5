"""A browser's requests to the pages, without a browser."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
