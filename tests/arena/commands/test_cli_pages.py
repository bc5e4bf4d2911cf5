"""Folders of played games have a page, written by the command that played them."""

from pathlib import Path
from typing import Any

import pytest

from arena.matches import tournament

CUP = ("arena", "tic_tac_toe", "--agent", "random", "--agent", "mcts:sims=2", "--deals", 1, "--workers", 1, "--run")


def kept(folder: Path) -> dict[str, bytes]:
    """Returns what is stored in a folder, but for its page."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "report.html"}


def test_a_kept_tournament_ends_with_the_page_of_its_report_and_a_resumed_one_renews_it(
    cwm: Any, tmp_path: Path
) -> None:
    page = tmp_path / "cup" / "report.html"
    assert f"report: {page}" in cwm(*CUP, page.parent).err
    written, stored = page.read_text(encoding="utf-8"), kept(page.parent)
    page.write_text("an old one", encoding="utf-8")
    assert f"report: {page}" in cwm("resume", page.parent, "--workers", 1, "--json").err
    assert page.read_text(encoding="utf-8") == written
    assert cwm("report", page.parent).code == 0
    assert page.read_text(encoding="utf-8") == written
    assert kept(page.parent) == stored


def test_a_tournament_that_is_not_kept_has_no_page(cwm: Any) -> None:
    assert "report:" not in cwm(*CUP[:-1]).err


def test_a_tournament_without_games_has_no_page_but_a_sentence(
    cwm: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cup = tmp_path / "cup"
    with monkeypatch.context() as patch:
        # As where a language model never answers: the folder is there, and no game in it.
        patch.setattr(tournament, "run", lambda config, *_, **__: tournament.result(config, [], 0, {}, {}))
        assert "no finished game is there to show: no page was written" in cwm(*CUP, cup).err
    told = cwm("report", cup)
    assert (told.code, told.out) == (0, "")
    assert "no finished game is there to show: no page was written" in told.err
    assert not (cup / "report.html").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "kuhn_poker", "--agents", "random", "--games", 2, "--workers", 1),
        ("xp", "kuhn_poker", "--agent", "random", "--games", 2, "--workers", 1),
    ],
    ids=["compare", "xp"],
)
def test_a_kept_comparison_has_the_page_that_html_writes(cwm: Any, tmp_path: Path, words: tuple[Any, ...]) -> None:
    page, other = tmp_path / "kept" / "report.html", tmp_path / "other.html"
    assert f"report: {page}" in cwm(*words, "--run", page.parent, "--html", other).err
    assert page.read_bytes() == other.read_bytes()
