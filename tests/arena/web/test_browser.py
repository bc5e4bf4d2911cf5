"""The pages in a real Chromium, over its debugging protocol: played, watched and followed as a person would."""

import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from arena.benchmarks import serve_speed
from arena.machine.runtime import Runtime
from arena.matches import seating
from arena.matches.match import play
from arena.one_game import kept
from cwm.record.record import RunRecord
from cwm.synthesis.driver import STREAM
from cwm.synthesis.events import CandidateTested
from cwm.trajectories.recorded import collect, write
from games import registry
from tests import browser
from tests.arena.web import chromium
from tests.arena.web.chromium import LONGEST_S, Tab, site, until

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]


SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(1)>"
HOSTILE: dict[str, Any] = {
    "0": {
        "moves": [{"action": SCRIPT, "visits": SCRIPT}],
        "belief": [[SCRIPT, [[SCRIPT, SCRIPT]]]],
        "simulations": SCRIPT,
    },
    "1": {
        "moves": [{"action": "o0", "visits": 1e300, "value": SCRIPT, "prior": [1]}],
        "belief": [["colours.0", [7, []]]],
    },
    "2": SCRIPT,
    "3": {"moves": SCRIPT, "belief": SCRIPT},
    "4": {"moves": [7, None, {"action": 7}], "belief": [7]},
}
"""What others may have written where games keep what was considered, by number of the move."""


def kept_search(folder: Path, hostile: bool) -> None:
    """Stores a game with what a planner considered in it, or with nonsense in its place."""
    game = registry.make("connect_four")
    config, plan = kept.planned("connect_four", kept.seated(["mcts:sims=30", "random"], game), 3, Runtime())
    agents = [seating.build(spec, game, Runtime()) for spec in plan.seats]
    record = play(game, agents, plan.deal_seed, [1, 2], explain=True)
    folder.mkdir()
    kept.keep(folder, config, plan, replace(record, thoughts=HOSTILE) if hostile else record, game)


@pytest.fixture(scope="module")
def long_game(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the rules of a very long game, and such a game in `long`."""
    folder = tmp_path_factory.mktemp("rules")
    serve_speed._long_game(folder)
    return folder


@pytest.fixture
def server(tmp_path: Path, long_game: Path) -> Iterator[str]:
    """The address that the command prints; it is started in the folder of the test."""
    write(tmp_path / "leduc.jsonl", collect(registry.make("leduc_poker"), 1, 5))
    kept_search(tmp_path / "thought", False)
    kept_search(tmp_path / "nonsense", True)
    shutil.copytree(long_game / "long", tmp_path / "long")
    own = f"python:{long_game / 'long_game.py'}:Long"
    shutil.copytree(ROOT / "tests" / "data" / "begun" / "run", tmp_path / "run")
    shutil.copytree(ROOT / "tests" / "hostile" / "pages", tmp_path / "pages")
    with chromium.served(tmp_path, own, "leduc.jsonl", "run", "pages", "thought", "nonsense", "long") as address:
        yield address


@pytest.fixture
def tab(tmp_path: Path, server: str) -> Iterator[Tab]:
    browser.needed()
    with chromium.opened(tmp_path / "chromium") as found:
        found.open(server)
        yield found
        assert found.problems == []
        assert found.requests
        assert [address for address in found.requests if not address.startswith(f"{site(server)}/")] == []


BEGIN = """(() => {
  const game = document.getElementById("game");
  game.value = [...game.options].find((one) => one.text.includes("yokai-9c-2p")).value;
  game.dispatchEvent(new Event("change"));
  document.querySelector("[data-seat]").value = "partner:heuristic";
  document.querySelector("button.main").click();
})()"""


def one_move(tab: Tab) -> str:
    """Makes the first move that the board offers, with the mouse; returns what it was."""
    at = tab.place("svg .touch")
    if at is not None:
        tab.click(at)
        return "observe"
    at = tab.place("svg .pick")
    if at is not None:
        tab.mouse("mouseMoved", at)
        tab.mouse("mousePressed", at)
        target = tab.value(
            "(() => { const r = document.querySelector('svg .lit').getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        tab.mouse("mouseMoved", target)
        tab.mouse("mouseReleased", target)
        return "drag"
    at = tab.place("button.hint.touchable")
    if at is None:
        return ""
    tab.click(at)
    lit = tab.place("svg .lit")
    if lit is not None:
        tab.click(lit)
    return "hint"


def test_a_whole_game_of_yokai_is_played_by_mouse(tab: Tab) -> None:
    until(lambda: tab.value("document.querySelectorAll('#game option').length"), "the list of games")
    tab.value(BEGIN)
    done = []
    end = time.monotonic() + 2 * LONGEST_S
    while not tab.status().startswith("The game is over") and time.monotonic() < end:
        if tab.status() == "Your move":
            done.append(one_move(tab))
        time.sleep(0.1)
    assert tab.status().startswith("The game is over")
    assert {"observe", "drag", "hint"} <= set(done)
    assert "Deal " in tab.value("document.querySelector('.ended').textContent")
    assert tab.picture()[:4] == b"\x89PNG"
    tab.size(400)
    assert not tab.wide()


def test_a_stored_game_is_watched_with_keys(tab: Tab, server: str) -> None:
    tab.open(f"{site(server)}/watch")
    until(lambda: tab.place("details.panel summary"), "the games")
    tab.open(f"{site(server)}/watch/s0/0")
    until(lambda: tab.status() == "The beginning", "the first frame")
    tab.press("ArrowRight")
    until(lambda: tab.status().startswith("chance: "), "the second frame")
    tab.press("End")
    until(lambda: "the end: returns: " in tab.status(), "the last frame")
    assert tab.value("document.querySelectorAll('.views section').length") == 2
    tab.size(400)
    assert not tab.wide()


def test_a_run_is_followed_while_it_grows(tab: Tab, server: str, tmp_path: Path) -> None:
    tab.open(f"{site(server)}/runs")
    link = "[...document.querySelectorAll('main a')].find((one) => one.textContent.includes('run'))"
    until(lambda: tab.value(f"Boolean({link})"), "the runs")
    tab.value(f"{link}.click()")
    until(lambda: "1 program," in tab.status(), "the run")
    with RunRecord.open(tmp_path / "run") as record:
        digest = record.add_program('"""Another."""\n')
        number = len(list(record.events(STREAM)))
        event = CandidateTested(1, 1, 0, digest, "rejected", 0.25, {}, ("no game",), None)
        record.add_event(STREAM, number, event.kind, event.to_json())
    until(lambda: "2 programs," in tab.status(), "the second program")
    tab.value("[...document.querySelectorAll('.tree button')].at(-1).click()")
    until(lambda: tab.value("document.querySelector('.added') !== null"), "its difference")
    tab.size(400)
    assert not tab.wide()


def test_nothing_in_hostile_recordings_becomes_markup_or_runs(tab: Tab, server: str) -> None:
    names = {place.name for place in (ROOT / "tests" / "hostile" / "pages").glob("*.jsonl")}
    assert len(names) >= 10
    places = tab.value("fetch('/api/shelf').then((answer) => answer.json())")
    hostile = {place["title"].rpartition("/")[2]: place["key"] for place in places if "pages/" in place["title"]}
    assert set(hostile) == names
    shown = 0
    for key in hostile.values():
        tab.open(f"{site(server)}/watch/{key}/0")
        until(lambda: tab.place(".views section") or tab.place("p.error[role=alert]:not(:empty)"), "the game")
        shown += tab.place(".views section") is not None
        for name in ("End", "Home"):
            tab.press(name)
        assert tab.value("document.querySelectorAll('script').length") == 1
        assert tab.value("document.querySelectorAll('main img, main iframe, main script, main [onload]').length") == 0
    assert shown >= 8
    # A recording that is none is refused with status 400, which the browser notes.
    tab.problems = [problem for problem in tab.problems if "status of 400" not in problem]


def place(tab: Tab, name: str) -> str:
    """Returns what pages call a place of stored games."""
    places = tab.value("fetch('/api/shelf').then((answer) => answer.json())")
    return next(str(one["key"]) for one in places if one["title"] == name)


def test_what_a_planner_considered_is_drawn_at_the_moves_of_a_watched_game(tab: Tab, server: str) -> None:
    tab.open(f"{site(server)}/watch/{place(tab, 'thought')}/0")
    until(lambda: tab.place(".thoughts tr.played"), "what was considered")
    # The truth and the mover's own view.
    assert tab.value("document.querySelectorAll('.views svg .thought').length") == 14
    assert tab.value("document.querySelectorAll('.views svg .thought.chosen').length") == 2
    assert "30 simulations" in tab.value("document.querySelector('.thoughts h2').textContent")
    tab.press("ArrowRight")
    until(lambda: not tab.place(".thoughts"), "the other player, who keeps nothing")
    assert not tab.place("svg .thought")
    tab.size(400)
    tab.press("ArrowRight")
    until(lambda: tab.place(".thoughts"), "the next move")
    assert not tab.wide()


def test_nonsense_in_the_place_of_what_was_considered_is_text_or_nothing(tab: Tab, server: str) -> None:
    tab.open(f"{site(server)}/watch/{place(tab, 'nonsense')}/0")
    until(lambda: tab.place(".thoughts"), "what was considered")
    assert SCRIPT in tab.value("document.querySelector('.thoughts').textContent")
    for number in range(1, 7):
        tab.press("ArrowRight")
        until(
            lambda number=number: tab.value("document.querySelector('output').textContent").startswith(f"{number} "),
            "it",
        )
        until(lambda: tab.value("document.querySelectorAll('.views section').length") == 2, "the boards")
        assert tab.value("document.querySelector('p.error').textContent") == ""
        assert tab.value("document.querySelectorAll('main script, main img').length") == 0


STEP = """(() => {
  const first = (...names) => names.map((name) => document.querySelector(name)).find(Boolean);
  const found = first("svg .lit", "svg .touch", "svg .pick", "button.playable",
    ".felt button", ".main", ".moves button");
  found?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  return Boolean(found);
})()"""
"""Clicks on what the board offers first: a lit cell before a piece, so that a piece that was chosen moves."""


@pytest.mark.parametrize(
    "game",
    [
        "backgammon",
        "gin_rummy",
        "hand_of_war",
        "quadranto",
        "bargaining",
        "army5x5a",
        "hanabi-2p",
        "overcooked-v2-grounded-coord-simple",
    ],
)
def test_a_board_is_drawn_and_moves_are_made_on_it(tab: Tab, server: str, game: str) -> None:
    tab.size(400)
    tab.open(site(server) + tab.sit(game, ["random"], 0, 7))
    until(lambda: tab.status() == "Your move", "the first move")
    assert tab.value("document.querySelector('.board, .felt, .goods') !== null")
    made = "document.querySelectorAll('.log li').length"
    for _ in range(12):
        if tab.status() == "Your move":
            assert tab.value(STEP), "nothing to click on"
        assert not tab.wide()
        time.sleep(0.1)
    until(lambda: tab.value(made) or tab.status().startswith("The game is over"), "a move")


def test_a_game_of_ten_thousand_moves_is_gone_along_with_few_elements(tab: Tab, server: str) -> None:
    tab.open(f"{site(server)}/watch/{place(tab, 'long')}/0")
    until(lambda: tab.status() == "The beginning", "the first frame")
    taken = tab.value(
        """(async () => {
          const slider = document.querySelector("input[type=range]");
          const nodes = [], frames = [], shown = [];
          let last = performance.now(), going = true;
          const beat = (now) => { frames.push(now - last); last = now; if (going) requestAnimationFrame(beat); };
          requestAnimationFrame(beat);
          for (let at = 0; at <= 10000; at += 125) {
            const begun = performance.now();
            slider.value = at;
            slider.dispatchEvent(new Event("input"));
            const said = () => document.querySelector(".views td.number")?.textContent === String(at);
            while (!said() && performance.now() - begun < 10000) await new Promise(requestAnimationFrame);
            shown.push(performance.now() - begun);
            nodes.push(document.querySelectorAll("*").length);
          }
          going = false;
          const sorted = (times) => [...times].sort((one, other) => one - other);
          const told = (times) => [0.5, 0.95].map((share) => sorted(times)[Math.floor((times.length - 1) * share)]);
          const last_told = document.querySelector(".views td.number").textContent;
          return { nodes, last: last_told, frames: told(frames), shown: told(shown) };
        })()"""
    )
    assert taken["last"] == "10000"
    assert len(taken["nodes"]) == 81
    assert max(taken["nodes"]) < 600
    assert max(taken["nodes"][1:-1]) == min(taken["nodes"][1:-1])
    told = f"ms, median and 95 %: between pictures {taken['frames']}, until a frame is shown {taken['shown']}"
    sys.stdout.write(f"{told}\n")
