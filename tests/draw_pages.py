"""Draws the first page of the report for the docs: `python -m tests.draw_pages [RUN]`, with the system's Chromium.

Without a folder the demo is run first, which takes some minutes.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.test_layout import ROOT

FOLDER: Final = ROOT / "arena" / "docs" / "pages"
SIZES: Final = ((1280, 900), (400, 900))
"""Width and height of each picture, in pixels."""
MOST_BYTES: Final = 150_000
NARROWEST: Final = 500
"""Chromium opens no window that is less wide: a narrow page stands in a frame."""
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


def main(run: Path | None) -> None:
    """Draws the report of a run in every size."""
    with tempfile.TemporaryDirectory() as folder:
        if run is None:
            run = Path(folder) / "demo"
            subprocess.run([sys.executable, "-m", "cwm", "demo", "--run", str(run)], check=True)
        for width, height in SIZES:
            draw((run / "report.html").resolve(), width, height, FOLDER / f"report-{width}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
