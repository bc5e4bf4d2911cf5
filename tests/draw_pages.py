"""Draws pages for the docs: `python -m tests.draw_pages [RUN]`, with the system's Chromium.

The first page of the report, and what `cwm serve` shows: play, watch, a run. Without a folder the demo is run first,
which takes some minutes.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from tests.arena.web.chromium import Tab, opened, served, site, until
from tests.test_layout import ROOT

FOLDER: Final = ROOT / "arena" / "docs" / "pages"
SIZES: Final = ((1280, 900), (400, 900))
"""Width and height of each picture, in pixels."""
MOST_BYTES: Final = 150_000
NARROWEST: Final = 500
"""Chromium opens no window that is less wide: a narrow page stands in a frame."""
GAME: Final = "yokai-9c-2p"
PLANNER: Final = "cwm:recorded,sims=60"
PARTNER: Final = "partner:heuristic"
DEAL: Final = 4
FRAME: Final = 21
"""Of the watched game: what the planner considers after the partner's first turn."""
MOTION_S: Final = 1.0
"""After this cards have come to rest."""
BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")


def draw(page: Path, width: int, height: int, out: Path) -> None:
    """Draws the top of a page."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise SystemExit(f"none of {', '.join(BROWSERS)} is installed")
    with tempfile.TemporaryDirectory() as folder:
        framed = Path(folder) / "frame.html"
        style = f"width:{width}px;height:{height}px;border:0"
        framed.write_text(
            f'<body style="margin:0;background:#8a9199"><iframe src="{page.as_uri()}" style="{style}"></iframe>'
        )
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--hide-scrollbars",
        ]
        shot = Path(folder) / "shot.png"
        subprocess.run(
            [
                browser,
                *options,
                "--virtual-time-budget=4000",
                f"--screenshot={shot}",
                f"--window-size={max(width, NARROWEST)},{height}",
                framed.as_uri(),
            ],
            check=True,
            capture_output=True,
        )
        if shot.stat().st_size > MOST_BYTES:
            raise SystemExit(f"{out.name} would take {shot.stat().st_size:,} bytes, more than {MOST_BYTES:,}")
        out.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(shot, out)


def draw_served(run: Path) -> None:
    """Draws the pages of the server in every size.

    Args:
        run: the run that is followed.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        words = ["--agent", PLANNER, "--agent", PARTNER, "--seed", str(DEAL), "--run", "games", "--keep-search"]
        subprocess.run([sys.executable, "-m", "cwm", "play", GAME, *words], check=True, capture_output=True, cwd=folder)
        shutil.copytree(run, folder / "run")
        with served(folder, "games", "run") as address, opened(folder / "chromium") as tab:
            tab.open(address)
            for name, show in {"play": _play, "watch": _watch, "run": _run}.items():
                for width, _ in SIZES:
                    tab.size(width)
                    show(tab, site(address))
                    picture = tab.picture("webp")
                    if len(picture) > MOST_BYTES:
                        raise SystemExit(f"{name} would take {len(picture):,} bytes, more than {MOST_BYTES:,}")
                    (FOLDER / f"{name}-{width}.webp").write_bytes(picture)


def _play(tab: Tab, server: str) -> None:
    tab.open(server + tab.sit(GAME, [PARTNER], 1, DEAL))
    for observed in range(2):
        own = f"document.querySelectorAll('.log .own').length === {observed}"
        until(lambda own=own: tab.value(own) and tab.place("svg .touch"), "the partner")
        tab.click(tab.place("svg .touch"))
    until(lambda: tab.place("svg .pick"), "the cards that may be moved")
    tab.value("document.querySelector('svg .pick').focus()")
    tab.press("Enter")
    time.sleep(MOTION_S)
    tab.value("scrollTo(0, 0)")


def _watch(tab: Tab, server: str) -> None:
    key = next(one["key"] for one in tab.value("fetch('/api/shelf').then((answer) => answer.json())"))
    # A page whose address differs by its fragment alone is not loaded again.
    tab.open(f"{server}/watch")
    tab.open(f"{server}/watch/{key}/0#{FRAME}")
    until(lambda: tab.place(".thoughts"), "what was considered")
    time.sleep(MOTION_S)
    tab.value("scrollTo(0, 0)")


def _run(tab: Tab, server: str) -> None:
    listed = tab.value("fetch('/api/runs').then((answer) => answer.json())")
    key = next(one["key"] for one in listed if one["kind"] == "run" and one["title"].endswith("run"))
    tab.open(f"{server}/runs/{key}")
    until(lambda: tab.place("svg.curve"), "the run")


def main(run: Path | None) -> None:
    """Draws the report of a run, and the pages of the server, in every size."""
    with tempfile.TemporaryDirectory() as folder:
        if run is None:
            run = Path(folder) / "demo"
            subprocess.run([sys.executable, "-m", "cwm", "demo", "--run", str(run)], check=True)
        for width, height in SIZES:
            draw((run / "report.html").resolve(), width, height, FOLDER / f"report-{width}.png")
        draw_served(run.resolve())


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
