"""A real Chromium, over its debugging protocol."""

import base64
import itertools
import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tests.browser import CHROMIUM, MISSING

ROOT = Path(__file__).resolve().parents[3]
LONGEST_S = 30
PATH = re.compile(r"^https?://[^/]*|[?#].*$")


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
        self.requests: list[str] = []
        for domain in ("Page", "Log", "Runtime", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **wishes: Any) -> Any:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": wishes}))
        while True:
            told = json.loads(self._socket.recv(timeout=LONGEST_S))
            if told.get("method") == "Network.requestWillBeSent":
                self.requests.append(told["params"]["request"]["url"])
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
        """Makes the window so wide, in pixels, and 900 high."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)

    def picture(self, kind: str = "png") -> bytes:
        quality = {} if kind == "png" else {"quality": 82}
        return base64.b64decode(self.ask("Page.captureScreenshot", format=kind, **quality)["data"])

    def sit(self, game: str, agents: list[str], seat: int, seed: int) -> str:
        """Begins a game and returns the address of its page, without the server's."""
        wishes = json.dumps({"agents": agents, "seat": seat, "seed": seed, "view": "default"})
        return "/play/" + str(
            self.value(
                "(async () => { const games = await (await fetch('/api/games')).json();"
                f" const game = games.find((one) => one.title.includes({game!r})).key;"
                " const headers = {'Content-Type': 'application/json'};"
                " const made = await fetch('/api/tables', {method: 'POST', headers,"
                f" body: JSON.stringify({{game, ...{wishes}}})}}); return (await made.json()).table; }})()"
            )
        )


@contextmanager
def opened(folder: Path) -> Iterator[Tab]:
    """Starts the browser with an empty page.

    Args:
        folder: of its profile; made.
    """
    if CHROMIUM is None:
        raise FileNotFoundError(MISSING)
    # A container may have little shared memory.
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
    ]
    flags += ["--remote-debugging-port=0", f"--user-data-dir={folder}"]
    process = subprocess.Popen([CHROMIUM, *flags, "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        told = folder / "DevToolsActivePort"
        until(lambda: told.exists() and "\n" in told.read_text(), "the browser")
        port = int(told.read_text().split()[0])
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
            pages = [page for page in json.load(answer) if page["type"] == "page"]
        with connect(pages[0]["webSocketDebuggerUrl"], max_size=None) as socket:
            yield Tab(socket)
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def served(folder: Path, *words: str) -> Iterator[str]:
    """Starts the server in a folder and yields the address that it prints.

    Args:
        folder: where it is started; games that are played are kept in it.
        words: what the command is given.
    """
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    process = subprocess.Popen(
        [sys.executable, "-m", "arena", "serve", *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


def site(server: str) -> str:
    """Returns an address without its token."""
    return server.partition("/?")[0]
