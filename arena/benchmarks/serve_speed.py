"""`cwm benchmark serve`: what the server of the pages takes for a move, and for the data of a very long game.

A server of its own listens on loopback and is asked as a page asks it. The others at the table decide in next to no
time, so that what is measured is the server's.
"""

import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from arena.agents.api import RandomAgent
from arena.benchmarks.measurement import Measurement
from arena.machine.runtime import Runtime
from arena.matches.game_source import open_game
from arena.matches.match import play
from arena.one_game import kept
from arena.usage import UsageError
from games.extras import install

TABLES: Final = (("tic_tac_toe", "random", 12), ("yokai-9c-2p", "partner:never-end", 4))
"""Game, who sits at the other seat, and how many games are played."""
LONG: Final = 10_000
WINDOW: Final = 64
"""Frames that a page asks for at a time."""
LONGEST_S: Final = 60.0
GAME: Final = f'''"""A game of {LONG:,} moves: each changes one of 64 cells."""
from games.api import GameInfo
class Long:
    info = GameInfo("long", 2, "zero_sum", -1.0, 1.0, True, False, ("a", "b"), {LONG})
    def initial_state(self): return {{"moves": 0, "cells": [0] * 64}}
    def current_player(self, state): return state["moves"] % 2 if state["moves"] < {LONG} else -4
    def legal_actions(self, state): return ["up", "down"] if state["moves"] < {LONG} else []
    def chance_outcomes(self, state): return []
    def apply_action(self, state, action):
        cells, moves = list(state["cells"]), state["moves"]
        cells[moves * 29 % 64] += 1 if action == "up" else -1
        return {{"moves": moves + 1, "cells": cells}}
    def rewards(self, state): return [0.0, 0.0]
    def observations(self, state): return [state, state]
'''
"""No registered game is as long."""


def run() -> Iterator[Measurement]:
    """Yields the figures.

    Raises:
        UsageError: the extra `web` is not installed.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        name = f"python:{_long_game(folder)}:Long"
        with _served(folder, name, "long") as page:
            for game, other, games in TABLES:
                taken = [seconds for number in range(games) for seconds in _moves(page, game, other, number)]
                note = f"{len(taken)} moves beside {other}"
                yield Measurement(f"serve/{game}/move/median", 1000 * statistics.median(taken), "ms", note=note)
                yield Measurement(f"serve/{game}/move/95 %", 1000 * _late(taken), "ms", note=note)
            yield from _watched(page)


@dataclass
class _Page:
    """A browser's connection.

    Attributes:
        server: host and port.
        cookie: what the server gave for the token.
    """

    server: str
    cookie: str = ""

    def __post_init__(self) -> None:
        self._connection = http.client.HTTPConnection(self.server, timeout=LONGEST_S)

    def enter(self, token: str) -> None:
        self._connection.request("GET", f"/?{token}", headers={"Host": self.server})
        answer = self._connection.getresponse()
        answer.read()
        self.cookie = (answer.getheader("Set-Cookie") or "").partition(";")[0]

    def ask(self, path: str, sent: Any = None) -> bytes:
        """Returns the body of an answer; what is sent goes as JSON."""
        own = {"Host": self.server, "Cookie": self.cookie, "Origin": f"http://{self.server}"}
        body = None if sent is None else json.dumps(sent)
        more = {} if body is None else {"Content-Type": "application/json"}
        self._connection.request("GET" if body is None else "POST", path, body, own | more)
        answer = self._connection.getresponse()
        data = answer.read()
        if answer.status != http.HTTPStatus.OK:
            raise UsageError(f"The server of the benchmark answered {answer.status} to {path.partition('?')[0]}.")
        return data

    def get(self, path: str, sent: Any = None) -> Any:
        return json.loads(self.ask(path, sent))


@contextmanager
def _served(folder: Path, *words: str) -> Iterator[_Page]:
    process = subprocess.Popen(
        [sys.executable, "-m", "arena", "serve", *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        address = urlsplit(process.stdout.readline().strip() if process.stdout is not None else "")
        if not address.netloc:
            raise UsageError(f"The server of the pages did not start; run: {install('web')}.")
        page = _Page(address.netloc)
        page.enter(address.query)
        yield page
    finally:
        process.terminate()
        process.wait(LONGEST_S)
        if process.stdout is not None:
            process.stdout.close()


def _moves(page: _Page, game: str, other: str, seed: int) -> Iterator[float]:
    """Plays one game and yields, for each own move, the seconds until the page is told the position after it."""
    key = next(one["key"] for one in page.get("/api/games") if f"({game})" in one["title"])
    wishes = {"game": key, "seat": 0, "agents": [other], "view": "default", "seed": seed}
    table = f"/api/tables/{page.get('/api/tables', wishes)['table']}"
    version, seen = "", 0
    while True:
        told = page.get(f"{table}?version={version}&after={seen}")
        if told["phase"] in ("over", "left", "failed"):
            return
        version, seen = told["version"], told["count"]
        if not told["legal"]:
            continue
        begun = time.perf_counter()
        page.ask(f"{table}/move", {"turn": told["turn"], "action": told["legal"][0]})
        while told["count"] == seen:
            told = page.get(f"{table}?version={version}&after={seen}")
            version = told["version"]
        yield time.perf_counter() - begun
        version = ""


def _watched(page: _Page) -> Iterator[Measurement]:
    """Yields what the page of a long game asks for: its opening, a jump to its end, then windows in order."""
    place = next(one["key"] for one in page.get("/api/shelf") if one["kind"] == "games")
    address = f"/api/shelf/{place}/0"
    begun = time.perf_counter()
    page.get(address)
    yield Measurement("serve/10,000 moves/open", 1000 * (time.perf_counter() - begun), "ms")
    taken, sizes = [], []
    for first in [LONG // WINDOW * WINDOW, *range(0, LONG, WINDOW)]:
        begun = time.perf_counter()
        sizes.append(len(page.ask(f"{address}/frames?first={first}&views=truth,0.default")))
        taken.append(time.perf_counter() - begun)
    yield Measurement("serve/10,000 moves/jump to the end", 1000 * taken[0], "ms", note="every move played again")
    note = f"{WINDOW} frames, two views"
    yield Measurement("serve/10,000 moves/window/median", 1000 * statistics.median(taken[1:]), "ms", note=note)
    yield Measurement("serve/10,000 moves/window/95 %", 1000 * _late(taken[1:]), "ms", note=note)
    yield Measurement("serve/10,000 moves/window/size", statistics.median(sizes[1:]) / 1024, "KiB", note=note)


def _late(taken: Sequence[float]) -> float:
    """Returns what 95 % of the times do not pass."""
    return sorted(taken)[min(len(taken) - 1, int(0.95 * len(taken)))]


def _long_game(folder: Path) -> Path:
    """Stores a game of 10,000 moves in `long`, and returns the file of its rules."""
    place = folder / "long_game.py"
    place.write_text(GAME, encoding="utf-8")
    name = f"python:{place}:Long"
    with open_game(name) as game:
        config, plan = kept.planned(name, kept.seated([], game), 0, Runtime())
        record = play(game, [RandomAgent(), RandomAgent()], plan.deal_seed, [1, 2])
        (folder / "long").mkdir()
        kept.keep(folder / "long", config, plan, record, game)
    return place
