"""The map in CONTRIBUTING and the drawing of packages say what the code says."""

import re

import pytest

from tests import draw_layout
from tests.test_layout import ORDER, ROOT, modules

CHANGES = (
    "a game",
    "a provider of language models",
    "a kind of agent",
    "a metric of cooperative games",
    "a kind of synthesised function",
    "a learning method",
    "a section of the report",
    "a command",
    "a benchmark",
    "a rule of the sandbox",
    "a network",
    "the wording of a prompt",
)
TEXT = draw_layout.TABLE.read_text(encoding="utf-8")
ROW = re.compile(r"^\| (.+?) \| (.+) \|$", re.MULTILINE)
RENEW = "run `.venv/bin/python -m tests.draw_layout` and look at what it changed"


def files_of(change: str) -> list[str]:
    """Returns the files and folders that the row of a change names by their whole paths."""
    cells = dict(ROW.findall(TEXT.partition("### Twelve changes")[2].partition("\n## ")[0]))
    return [name for name in re.findall(r"`([^`]+)`", cells[change]) if "/" in name or (ROOT / name).exists()]


@pytest.mark.parametrize(("top", "place"), [(top, place) for top in ORDER for place in ORDER[top]])
def test_every_package_says_in_a_sentence_what_it_holds(top: str, place: str) -> None:
    assert re.fullmatch(r"[^|]+\.", draw_layout.sentence(modules()[f"{top}.{place}"]))


def test_contributing_has_one_row_a_package() -> None:
    assert draw_layout.contributing() == TEXT, RENEW


def test_the_drawing_is_that_of_the_code() -> None:
    assert draw_layout.DRAWING.read_text(encoding="utf-8") == draw_layout.drawing(), RENEW


def test_no_arrow_is_drawn_that_others_imply() -> None:
    drawn = {("c", "b"), ("b", "a"), ("c", "a"), ("d", "a")}
    assert draw_layout.needed(drawn) == [("b", "a"), ("c", "b"), ("d", "a")]


@pytest.mark.parametrize("change", CHANGES)
def test_the_files_that_a_change_touches_are_there(change: str) -> None:
    files = files_of(change)
    assert len(files) >= 2
    assert [name for name in files if not (ROOT / name).exists()] == []
