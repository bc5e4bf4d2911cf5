from pathlib import Path
from typing import Any


def test_comparison_prints_one_document_and_writes_page_and_text(cwm: Any, tmp_path: Path) -> None:
    page, text = tmp_path / "all.html", tmp_path / "all.md"
    options = ("--agents", "random,heuristic", "--games", "2", "--html", str(page), "--text", str(text))
    found = cwm("compare", "yokai-8c-2p", *options, "--workers", "1", "--json").json
    assert [one["name"] for one in found["contenders"]] == ["random", "heuristic"]
    assert found["table"]["games"] == 6
    assert "All players on yokai-8c-2p" in page.read_text(encoding="utf-8")
    assert "R of each pair on yokai-8c-2p" in text.read_text(encoding="utf-8")


def test_comparison_shows_players_pairs_and_lineups(cwm: Any) -> None:
    options = ("--agents", "random,heuristic,cwm", "--games", "2", "--workers", "1")
    shown = cwm("compare", "yokai-8c-2p", *options).out
    for part in ("Players", "R of the pair", "Cross-play", "not recorded"):
        assert part in shown


def test_comparison_of_players_that_cannot_play_is_refused(refused: Any) -> None:
    told = refused("compare", "yokai-8c-2p", "--agents", "cwm,llm").err
    assert "None of these players can play yokai-8c-2p: cwm (not recorded), llm (not played)" in told


def test_caps_without_a_language_model_are_refused(refused: Any) -> None:
    told = refused("compare", "yokai-8c-2p", "--agents", "random", "--max-calls", "3").err
    assert "No language model plays, and nothing is asked" in told


def test_tables_are_shown_even_if_the_page_cannot_be_written(cwm: Any, tmp_path: Path, monkeypatch: Any) -> None:
    def full(path: Path, text: str) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("arena.commands.compare.write_whole", full)
    page = tmp_path / "all.html"
    ran = cwm("compare", "kuhn_poker", "--agents", "random", "--games", "2", "--workers", "1", "--html", page)
    assert ran.code == 4
    assert "Return of the row's player" in ran.out
    assert "No space left on device" in ran.err


def test_page_that_can_be_nowhere_is_refused_before_anything_is_played(refused: Any) -> None:
    told = refused("compare", "kuhn_poker", "--agents", "random", "--text", "nowhere/all.md").err
    assert "There is no folder nowhere for all.md" in told
    assert "There is no folder nowhere" in refused("xp", "kuhn_poker", "--agent", "random", "--html", "nowhere/x").err
