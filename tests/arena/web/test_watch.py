"""Stored games are watched frame by frame, whatever was written into them."""

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from arena.matches import store
from arena.web.reels import WINDOW, Credits, Recorded, Replayed
from arena.web.stock import Stock
from cwm.trajectories.recorded import collect, write
from games import registry
from games.api import GameInfo
from tests.arena.web.pages import SCRIPT, Browser

pytestmark = pytest.mark.extra("web")

ROOT = Path(__file__).resolve().parents[3]
PAGES = ROOT / "tests" / "hostile" / "pages"


def shelf(browser: Browser) -> dict[str, str]:
    """Returns keys by the ends of their places."""
    return {place["title"].rpartition("/")[2]: place["key"] for place in browser.get("/api/shelf")}


@pytest.fixture
def recorded(tmp_path: Path) -> None:
    write(tmp_path / "leduc.jsonl", collect(registry.make("leduc_poker"), 3, 5))
    shutil.copytree(ROOT / "tests" / "data" / "begun" / "tournament", tmp_path / "stored")


@pytest.mark.usefixtures("recorded")
def test_games_of_files_and_of_tournaments_are_listed(browser: Browser) -> None:
    keys = shelf(browser)
    assert set(keys) == {"leduc.jsonl", "stored"}
    assert browser.get(f"/api/shelf/{keys['leduc.jsonl']}")["total"] == 3
    stored = store.read(Path("stored")).games
    assert browser.get(f"/api/shelf/{keys['stored']}?first=1")["games"][0]["number"] == 1
    assert browser.get(f"/api/shelf/{keys['stored']}")["total"] == len(stored)


@pytest.mark.usefixtures("recorded")
def test_every_frame_shows_what_was_recorded(browser: Browser) -> None:
    address = f"/api/shelf/{shelf(browser)['leduc.jsonl']}/1"
    game = collect(registry.make("leduc_poker"), 3, 5)[1]
    about = browser.get(address)
    assert about["views"] == ["truth", "0.default", "1.default"]
    frames = browser.get(f"{address}/frames?first=0&views=truth,1.default,7.default,nonsense")
    assert len(frames) == about["length"] == len(game.steps)
    for frame, step in zip(frames, game.steps, strict=True):
        assert set(frame["views"]) == {"truth", "1.default"}
        assert frame["views"]["1.default"]["observation"] == step.observations[1]
        assert frame["views"]["truth"]["observation"] == step.state


def test_a_file_of_a_game_that_nobody_knows_is_shown_as_it_was_recorded(browser: Browser, tmp_path: Path) -> None:
    lines = "".join(
        json.dumps(json.loads(line) | {"game": "unknown"}) + "\n"
        for line in recorded_lines(tmp_path / "a.jsonl", "tic_tac_toe")
    )
    (tmp_path / "a.jsonl").write_text(lines, encoding="utf-8")
    address = f"/api/shelf/{shelf(browser)['a.jsonl']}/0"
    assert browser.get(address)["views"] == ["truth", "0.recorded", "1.recorded"]
    assert browser.get(f"{address}/frames?first=1&views=0.recorded")[0]["action"] is not None


def recorded_lines(path: Path, game: str) -> list[str]:
    write(path, collect(registry.make(game), 1, 5))
    return path.read_text(encoding="utf-8").splitlines()


class Counting:
    """A game of ten thousand moves that counts them, and how often it was asked."""

    info = GameInfo("counting", 2, "zero_sum", -1.0, 1.0, True, False, ("a", "b"), 10_000)

    def __init__(self) -> None:
        self.asked = 0

    def initial_state(self) -> int:
        return 0

    def current_player(self, state: int) -> int:
        return state % 2 if state < 10_000 else -4

    def legal_actions(self, state: int) -> list[str]:
        return ["on"] if state < 10_000 else []

    def chance_outcomes(self, state: int) -> list[tuple[str, float]]:
        return []

    def apply_action(self, state: int, action: str) -> int:
        self.asked += 1
        return state + 1

    def rewards(self, state: int) -> list[float]:
        return [0.0, 0.0]

    def observations(self, state: int) -> list[dict[str, Any]]:
        return [{"count": state}, {"count": state}]


def test_any_window_of_a_long_game_is_a_window_s_work_once_it_was_reached() -> None:
    game = Counting()
    reel = Replayed(game, [(number % 2, "on") for number in range(10_000)], Credits("counting", ("a", "b"), ()))
    assert reel.frames(9_990, ["0.default"])[-1]["views"]["0.default"]["observation"] == {"count": 10_000}
    for first in (9_936, 5_000, 0, 9_999, 64, 63):
        game.asked = 0
        frames = reel.frames(first, ["1.default"])
        assert [frame["views"]["1.default"]["observation"]["count"] for frame in frames] == list(
            range(first, min(first + WINDOW, 10_001))
        )
        assert game.asked <= 2 * WINDOW


def test_a_recorded_game_is_served_in_windows() -> None:
    [game] = collect(registry.make("backgammon"), 1, 5)
    reel = Recorded(game, Credits("x", game.player_names, ()))
    assert reel.length > WINDOW
    assert [frame["number"] for frame in reel.frames(10, ["truth"])] == list(range(10, 10 + WINDOW))
    assert reel.frames(reel.length, ["truth"]) == []


@pytest.mark.parametrize("path", ["s99", "../stored", "s0/99", "s0/-1", "s0/1/frames/x", "%2e%2e%2fx"])
@pytest.mark.usefixtures("recorded")
def test_what_is_not_on_the_shelf_is_not_found(browser: Browser, path: str) -> None:
    shelf(browser)
    assert browser.client.get(f"/api/shelf/{path}").status_code == 404


def changed(folder: Path, change: dict[str, Any]) -> None:
    """Changes the configuration that stored games name."""
    with sqlite3.connect(folder / store.FILE_NAME) as database:
        [[text]] = database.execute("SELECT value FROM meta WHERE name = 'config'").fetchall()
        database.execute("UPDATE meta SET value = ? WHERE name = 'config'", (json.dumps(json.loads(text) | change),))


@pytest.mark.parametrize("prefix", ["", "scrambled:"])
@pytest.mark.usefixtures("recorded")
def test_code_that_a_stored_game_names_is_not_run(browser: Browser, tmp_path: Path, prefix: str) -> None:
    code = tmp_path / "evil.py"
    code.write_text("import pathlib\npathlib.Path('ran').touch()\n", encoding="utf-8")
    changed(tmp_path / "stored", {"game": f"{prefix}python:{code}:Game"})
    answer = browser.client.get(f"/api/shelf/{shelf(browser)['stored']}/0")
    assert answer.status_code == 400
    assert "code that is run only if you name it" in answer.json()["error"]
    assert not Path("ran").exists()


def test_a_game_of_ones_own_is_watched_where_it_was_named(browser: Browser, own_game: str, tmp_path: Path) -> None:
    table = browser.sit(own_game)
    kept = browser.play_on(table, lambda told: str(told["legal"][0]))["end"]["folder"]
    key = shelf(browser)[Path(kept).name]
    assert browser.client.get(f"/api/shelf/{key}/0").status_code == 400
    found = next(place for place in browser.shelf.look() if place.key == key)
    reel = Stock([own_game]).reel(found, 0)
    assert reel is not None
    assert reel.frames(0, ["0.default"])[1]["action"] == SCRIPT


@pytest.mark.parametrize("name", sorted(place.name for place in PAGES.glob("*.jsonl")))
def test_a_hostile_recording_is_data_or_one_sentence_and_never_a_part_of_a_page(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    shutil.copy(PAGES / name, tmp_path / name)
    key = shelf(browser)[name]
    assert "alert" not in browser.client.get("/watch").text
    assert "alert" not in browser.client.get(f"/watch/{key}/0").text
    for path in ("", "/0", "/0/frames?first=0&views=truth,0.recorded,0.default"):
        answer = browser.client.get(f"/api/shelf/{key}{path}")
        assert answer.status_code in (200, 400, 404), answer.text
        assert answer.headers["content-type"] == "application/json"
        json.loads(answer.text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
        assert answer.status_code == 200 or set(answer.json()) == {"error"}


THOUGHT = {"simulations": 9, "moves": [{"action": SCRIPT, "visits": 9}], "left_out": 0}


def test_what_a_player_considered_stands_at_the_frame_in_which_it_moves() -> None:
    actions = [(0, "x(1,1)"), (1, "o(0,0)")]
    reel = Replayed(
        registry.make("tic_tac_toe"), actions, Credits("tic_tac_toe", ("a", "b"), ()), thoughts={"1": THOUGHT}
    )
    frames = reel.frames(0, ())
    assert [frame.get("thought") for frame in frames] == [None, THOUGHT, None]
    assert (frames[1]["next"], frames[1]["seat"]) == ("o(0,0)", 1)


@pytest.mark.parametrize("thoughts", [None, [], "x", {"2": THOUGHT}, {"-1": 7, "x": {}, "1": [SCRIPT]}])
def test_a_game_that_kept_nonsense_of_what_was_considered_is_still_watched(thoughts: Any) -> None:
    actions = [(0, "x(1,1)"), (1, "o(0,0)")]
    reel = Replayed(registry.make("tic_tac_toe"), actions, Credits("tic_tac_toe", ("a", "b"), ()), thoughts=thoughts)
    assert [frame["number"] for frame in reel.frames(0, ())] == [0, 1, 2]
