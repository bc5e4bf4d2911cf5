"""The pages in a real Chromium, over its debugging protocol: played, watched and followed as a person would."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from cwm.record.record import RunRecord
from cwm.synthesis.driver import STREAM
from cwm.synthesis.events import CandidateTested
from cwm.trajectories.recorded import collect, write
from games import registry
from tests.arena.web import chromium
from tests.arena.web.chromium import CHROMIUM, LONGEST_S, Tab, until

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """The address that the command prints; it is started in the folder of the test."""
    write(tmp_path / "leduc.jsonl", collect(registry.make("leduc_poker"), 1, 5))
    shutil.copytree(ROOT / "tests" / "data" / "begun" / "run", tmp_path / "run")
    shutil.copytree(ROOT / "tests" / "hostile" / "pages", tmp_path / "pages")
    words = [sys.executable, "-m", "arena", "serve", "leduc.jsonl", "run", "pages"]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    process = subprocess.Popen(
        words, cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    yield process.stdout.readline().strip()
    process.terminate()
    process.wait(30)
    process.stdout.close()


@pytest.fixture
def tab(tmp_path: Path, server: str) -> Iterator[Tab]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    with chromium.opened(tmp_path / "chromium") as found:
        found.open(server)
        yield found
        assert found.problems == []


def site(server: str) -> str:
    return server.partition("/?")[0]


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
    until(lambda: tab.place("main a"), "the runs")
    tab.click(tab.place("main a"))
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
