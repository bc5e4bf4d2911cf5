"""The pages in a real Chromium, over its debugging protocol: played, watched and followed as a person would."""

import base64
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from websockets.sync.client import ClientConnection, connect

from cwm.record.record import RunRecord
from cwm.synthesis.driver import STREAM
from cwm.synthesis.events import CandidateTested
from cwm.trajectories.recorded import collect, write
from games import registry

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
LONGEST_S = 30
PATH = re.compile(r"^https?://[^/]*|\?.*$")


def until(look: Callable[[], Any], what: str) -> Any:
    """Returns what `look` gives as soon as it gives something."""
    end = time.monotonic() + LONGEST_S
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"waited in vain for {what}")


class Tab:
    """A page of a browser."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self.problems: list[str] = []
        for domain in ("Page", "Log", "Runtime"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **wishes: Any) -> Any:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": wishes}))
        while True:
            told = json.loads(self._socket.recv(timeout=LONGEST_S))
            if told.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown", "Page.javascriptDialogOpening"):
                self.problems.append(json.dumps(told["params"]))
            if told.get("id") == number:
                return told["result"]

    def value(self, expression: str) -> Any:
        """Returns what an expression of JavaScript gives."""
        found = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        return found["result"].get("value")

    def open(self, address: str) -> None:
        self.ask("Page.navigate", url=address)
        # What was there before is not taken for the new page.
        filled = "document.querySelector('main > *:not(noscript)') !== null"
        until(lambda: self.value(f"location.pathname === {PATH.sub('', address)!r} && {filled}"), address)

    def place(self, selector: str) -> Any:
        """Returns where the first such element is, [x, y], None if there is none."""
        return self.value(
            f"(() => {{ const e = document.querySelector({selector!r}); if (!e) return null;"
            " e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )

    def mouse(self, kind: str, at: Any) -> None:
        button = "none" if kind == "mouseMoved" else "left"
        self.ask("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], button=button, buttons=1, clickCount=1)

    def click(self, at: Any) -> None:
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.mouse(kind, at)

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key)

    def status(self) -> str:
        return str(self.value("document.querySelector('.status')?.textContent"))

    def wide(self) -> bool:
        """Whether the page would have to be moved sideways."""
        return bool(self.value("document.documentElement.scrollWidth > document.documentElement.clientWidth"))

    def size(self, width: int) -> None:
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)

    def picture(self) -> bytes:
        return base64.b64decode(self.ask("Page.captureScreenshot")["data"])


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
    folder = tmp_path / "chromium"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", f"--user-data-dir={folder}"]
    process = subprocess.Popen([CHROMIUM, *flags, "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        told = folder / "DevToolsActivePort"
        until(lambda: told.exists() and "\n" in told.read_text(), "the browser")
        port = int(told.read_text().split()[0])
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
            pages = [page for page in json.load(answer) if page["type"] == "page"]
        with connect(pages[0]["webSocketDebuggerUrl"], max_size=None) as socket:
            opened = Tab(socket)
            opened.open(server)
            yield opened
            assert opened.problems == []
    finally:
        process.terminate()
        process.wait(30)


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
