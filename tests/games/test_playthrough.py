"""Every registered game has a golden playthrough, and plays as it says.

After a wanted change: `python -m games.playthrough --renew`, and read the difference.
"""

from pathlib import Path

import pytest

from games import playthrough, registry


@pytest.mark.parametrize("game_id", registry.ids())
def test_game_plays_as_its_golden_playthrough_says(game_id: str) -> None:
    path = playthrough.path_of(game_id)
    assert path.exists(), f"none yet: run `python -m games.playthrough --renew {game_id}`"
    assert playthrough.playthrough(registry.make(game_id)) == path.read_text(encoding="utf-8")


def test_no_golden_playthrough_is_left_over() -> None:
    assert {path.stem for path in playthrough.FOLDER.iterdir()} <= set(registry.ids())


def test_renewing_writes_the_file_of_the_named_game_alone(tmp_path: Path) -> None:
    assert playthrough.main(["--renew", "--folder", str(tmp_path), "kuhn_poker"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["kuhn_poker.txt"]
    assert "action of player_0: " in (tmp_path / "kuhn_poker.txt").read_text(encoding="utf-8")


def test_printing_shows_the_whole_game(capsys: pytest.CaptureFixture[str]) -> None:
    playthrough.main(["tic_tac_toe"])
    printed = capsys.readouterr().out
    assert printed.startswith("game: tic_tac_toe\n")
    assert "to move: -4 (terminal)" in printed


def test_other_seed_plays_another_game() -> None:
    game = registry.make("connect_four")
    assert playthrough.playthrough(game, seed=1) != playthrough.playthrough(game, seed=2)


def test_views_that_fill_pages_are_written_once_and_then_stand_as_hashes() -> None:
    text = playthrough.playthrough(registry.make("hanabi-2p"))
    hashes = [line for line in text.splitlines() if line.startswith("seen (counted): ")]
    assert text.count("all see (counted): ") == playthrough.MAX_DETAILED_CHANCE + 1
    assert len(hashes) == len(set(hashes)) == 7
    assert "seen (" not in playthrough.playthrough(registry.make("yokai-16c-4p"))
