"""`cwm play`: a person's game, how it is kept, and what is told at its end."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from games import registry


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Games are kept in `runs` of the current folder."""
    monkeypatch.chdir(tmp_path)


def test_a_person_plays_a_game_to_its_end(cwm: Any) -> None:
    ran = cwm("play", "tic_tac_toe", typed="#1\n" * 9)
    assert ran.code == 0
    assert "You are x (seat 0) in tic_tac_toe." in ran.out
    assert "The whole game:" in ran.out
    assert "x (human): " in ran.out


def test_a_played_game_as_json_is_alone_on_stdout(cwm: Any) -> None:
    ran = cwm("play", "tic_tac_toe", "--json", typed="#1\n" * 9)
    assert ran.json["seats"] == ["human", "random"]
    assert "You are x" in ran.err


def test_a_person_sees_their_own_card_alone_until_the_end(cwm: Any) -> None:
    ran = cwm("play", "leduc_poker", "--seed", 3, typed="call\n" * 9)
    before, _, after = ran.out.partition("The whole game, with what was hidden:")
    assert re.search(r"player_0: card [JQK]", before)
    assert "player_1: card ?" in before
    assert not re.search(r"player_1: card [JQK]", before)
    assert re.search(r"player_1: card [JQK]", after)


def test_a_person_with_another_view_is_shown_that_view(cwm: Any) -> None:
    memory = json.loads(cwm("games", "list", "--json").out)
    assert next(game for game in memory if game["id"] == "yokai-9c-2p")["views"] == ["default", "memory"]
    default = cwm("play", "yokai-9c-2p", "--seed", 1, typed="q\n").out
    other = cwm("play", "yokai-9c-2p", "--seed", 1, "--agent", "human:view=memory", typed="q\n").out
    assert default != other


def test_a_game_that_is_left_says_so(cwm: Any) -> None:
    left = cwm("play", "tic_tac_toe", "--seed", 0, typed="#1\nq\n")
    assert (left.code, left.err) == (0, "You left the game; it is not scored.\n")
    ended = cwm("play", "tic_tac_toe", "--seed", 0, typed="#1\n")
    assert (ended.code, ended.err) == (1, "The input ended before the game did; it is not scored.\n")


def test_ctrl_c_leaves_a_game(cwm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("rich.prompt.Prompt.ask", interrupted)
    ran = cwm("play", "tic_tac_toe", "--seed", 0)
    assert (ran.code, ran.err) == (130, "error: interrupted.\n")


def test_a_finished_game_is_kept_where_it_is_said_and_verified(cwm: Any, tmp_path: Path) -> None:
    ran = cwm("play", "yokai-9c-2p", "--agent", "random", "--seed", 4, "--run", tmp_path / "kept")
    assert f"kept: {tmp_path / 'kept'}" in ran.err
    verified = cwm("verify", tmp_path / "kept", "--json")
    assert (verified.code, verified.json["games"], verified.json["unfinished"]) == (0, 1, 0)
    assert cwm("games", "render", tmp_path / "kept", "-o", tmp_path / "game.html").code == 0


def test_without_a_folder_a_game_is_kept_in_runs(cwm: Any, tmp_path: Path) -> None:
    cwm("play", "tic_tac_toe", "--agent", "random")
    [folder] = (tmp_path / "runs").iterdir()
    assert folder.name.startswith("play-tic_tac_toe-")
    assert sorted(path.name for path in folder.iterdir()) == [
        "games.sqlite", "games.sqlite.lock", "standings.json", "tournament.json",
    ]  # fmt: skip


def test_a_game_that_is_left_keeps_no_folder(cwm: Any, tmp_path: Path) -> None:
    cwm("play", "tic_tac_toe", typed="q\n")
    assert list((tmp_path / "runs").iterdir()) == []


def test_a_folder_with_something_in_it_is_refused(refused: Any, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a.txt").write_text("mine", encoding="utf-8")
    ran = refused("play", "tic_tac_toe", "--agent", "random", "--seed", 1, "--run", tmp_path / "full")
    assert ran.code == 2
    assert "is not empty; give a new folder with --run" in ran.err


def test_every_game_is_a_new_deal_whose_seed_deals_it_again(cwm: Any) -> None:
    first = cwm("play", "leduc_poker", "--agent", "random", "--agent", "random")
    [seed] = [line.split()[1] for line in first.err.splitlines() if line.startswith("deal ")]
    again = cwm("play", "leduc_poker", "--agent", "random", "--agent", "random", "--seed", seed)
    assert again.out == first.out
    assert "deal" not in again.err.splitlines()[0]


def test_what_chance_did_is_told_at_the_end(cwm: Any) -> None:
    ran = cwm("play", "kuhn_poker", "--agent", "random", "--seed", 1)
    assert any(line.startswith("chance: ") for line in ran.out.splitlines())


@pytest.mark.parametrize(
    ("game", "word"), [("tic_tac_toe", "drew|won|lost"), ("yokai-9c-2p", "won together|lost together")]
)
def test_the_result_is_said_in_words(cwm: Any, game: str, word: str) -> None:
    ran = cwm("play", game, "--agent", "random", "--seed", 2)
    last = [line for line in ran.out.splitlines() if "(random): " in line]
    assert len(last) == 2
    assert all(line.split(": ")[1].split(",")[0] in word.split("|") for line in last)


def test_the_score_of_yokai_is_broken_down(cwm: Any) -> None:
    ran = cwm("play", "yokai-9c-2p", "--agent", "random", "--seed", 2)
    assert "colours do not lie together: −" in ran.out


def test_rules_are_told_to_who_asks(cwm: Any) -> None:
    ran = cwm("play", "tic_tac_toe", typed="rules\nq\n")
    assert registry.rules("tic_tac_toe").splitlines()[0] in ran.out


def test_no_number_of_a_move_can_be_taken_for_a_card(cwm: Any) -> None:
    ran = cwm("play", "yokai-9c-2p", "--seed", 3, "--run", "game", typed="1\nobserve card 2\nq\n")
    assert "  observe  0  2  3  4  5  6  7  8" in ran.out
    assert "b1   r2" in ran.out


def test_colours_are_shown_in_a_terminal_alone(cwm: Any) -> None:
    assert "\x1b[" not in cwm("play", "yokai-9c-2p", "--seed", 3, typed="1\nq\n").out


def test_a_search_is_kept_with_the_game_if_that_is_asked_for(cwm: Any) -> None:
    words = ("play", "tic_tac_toe", "--agent", "mcts:sims=9", "--agent", "random", "--seed", 1, "--json")
    plain, told = cwm(*words, "--run", "plain").json, cwm(*words, "--run", "told", "--keep-search").json
    thoughts = told.pop("thoughts")
    assert told | {"seconds": 0} == plain | {"seconds": 0}
    assert set(thoughts) == {"0", "2", "4", "6", "8"} & {str(number) for number in range(len(told["actions"]))}
