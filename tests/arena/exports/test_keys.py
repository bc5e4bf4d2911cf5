"""The player's keys, on a page of `cwm games render` and embedded in another one, in a real Chromium."""

import json
import re
import subprocess
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from arena.exports import film_formats, film_sources, watching
from arena.exports.film import film
from arena.pages import run_page
from tests import browser

PRESSED = """<script>
setTimeout(() => {
  const byId = (id) => document.getElementById(PREFIX + id), told = [];
  const root = document.getElementById("watch") || document;
  const look = () => told.push(
    [Number(byId("at").value), byId("play").textContent, byId("told").hidden, byId("speed").value]);
  const press = (key, more = {}, on = root) => {
    on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, ...more }));
    look();
  };
  look();
  for (const key of ["ArrowRight", "ArrowRight", "ArrowLeft", "End", "Home", "+", " ", " ", "?", "?"]) press(key);
  press("ArrowRight", { ctrlKey: true });
  press("ArrowRight", {}, byId("speed"));
  const found = { id: "found", textContent: JSON.stringify(told) };
  document.body.append(Object.assign(document.createElement("pre"), found));
}, 300);
</script>"""


def found(page: str, prefix: str, folder: Path) -> list[Any]:
    """Returns step, the play button's text, whether the keys are hidden, and the speed, at first and after each key."""
    chromium = browser.needed()
    file = folder / "page.html"
    file.write_text(page + PRESSED.replace("PREFIX", json.dumps(prefix)), encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'chromium'}"]
    words = [chromium, *flags, "--virtual-time-budget=1000", "--dump-dom", file.as_uri()]
    shown = subprocess.run(words, check=True, capture_output=True, text=True, timeout=60).stdout
    told = re.search(r'<pre id="found">(.*?)</pre>', shown)
    assert told is not None
    answer: list[Any] = json.loads(unescape(told[1]))
    return answer


@pytest.mark.slow
@pytest.mark.parametrize("place", ["film", "embedded"])
def test_arrows_step_home_and_end_jump_space_plays_and_a_question_mark_tells_the_keys(
    place: str, tmp_path: Path
) -> None:
    game, record = film_sources.load("yokai-9c-2p", 0, 3)
    last = len(film(game, record).frames) - 1
    if place == "film":
        page, prefix = film_formats.page(film(game, record)), ""
    else:
        parts = run_page.player(watching.of(game, [record, replace(record, deal_seed=5)]))
        page, prefix = f"<style>{parts['style']}</style>{parts['body']}", "watch-"
    told = found(page, prefix, tmp_path)
    assert [step for step, *_ in told] == [0, 1, 2, 1, last, *[0] * 8]
    assert [playing for _, playing, *_ in told] == [*["Play"] * 7, "Pause", *["Play"] * 5]
    assert [hidden for *_, hidden, _ in told] == [*[True] * 9, False, True, True, True]
    assert [speed for *_, speed in told] == [*["1"] * 6, *["2"] * 7]


def test_every_key_of_a_player_is_told_on_its_page() -> None:
    game, record = film_sources.load("yokai-9c-2p", 0, 3)
    names = {" ": "Space", "ArrowLeft": "←", "ArrowRight": "→", "-": "−", "t": "T"}
    # Other names of keys that are told.
    also = {"k", "="}
    for page in (film_formats.page(film(game, record)), str(run_page.player(watching.of(game, [record]))["body"])):
        acts = re.search(
            r"(?:keys = |playerKeys\(document.getElementById\(\"watch\"\), )\{(.*?)\n *\}", page, re.DOTALL
        )
        assert acts is not None
        heard = {first or second for first, second in re.findall(r'(?:"(.+?)"|\b(\w+)): (?:\(|toggle)', acts[1])}
        assert set(re.findall(r"<kbd>(.+?)</kbd>", page)) == {names.get(key, key) for key in heard - also} | {"?"}
