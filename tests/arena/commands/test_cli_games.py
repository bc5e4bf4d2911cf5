import json
from pathlib import Path
from typing import Any

import pytest

from games import registry


def test_list_names_every_game(cwm: Any) -> None:
    assert [game["id"] for game in cwm("games", "list", "--json").json] == registry.ids()
    shown = cwm("games", "list").out
    assert all(game in shown for game in registry.ids())
    assert "yokai-8c-2p: reduced setting, not in the paper" in shown


def test_rules_are_those_that_a_model_gets(cwm: Any) -> None:
    assert cwm("games", "rules", "kuhn_poker").out.strip() == registry.rules("kuhn_poker").strip()


def test_a_shown_game_is_the_same_for_the_same_seed(cwm: Any) -> None:
    first = cwm("games", "show", "leduc_poker", "--seed", 5)
    assert first.code == 0
    assert "returns: " in first.out
    assert cwm("games", "show", "leduc_poker", "--seed", 5).out == first.out
    assert cwm("games", "show", "leduc_poker", "--seed", 6).out != first.out


@pytest.mark.parametrize(
    "words",
    [
        ["games", "rules", "nope"],
        ["games", "show", "nope"],
        ["play", "nope"],
        ["arena", "nope", "--agent", "random"],
        ["demo", "nope"],
        ["synthesize", "nope"],
        ["trajectories", "record", "nope", "-o", "x.jsonl"],
    ],
)
def test_an_unknown_game_is_named_with_the_known_ones(refused: Any, words: list[str]) -> None:
    ran = refused(*words)
    assert ran.code == 2
    assert "There is no game 'nope'. Known: tic_tac_toe, " in ran.err


def test_recorded_games_pass_the_check_and_say_what_they_are(cwm: Any, tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    assert cwm("trajectories", "record", "leduc_poker", "-o", file, "--games", 3, "--seed", 1).code == 0
    found = cwm("trajectories", "check", file, "--json").json
    assert (found["game"], found["games"], found["players"]) == ("leduc_poker", 3, 2)
    assert (found["perfect_information"], found["has_chance"]) == (False, True)
    assert "games: 3" in cwm("trajectories", "check", file).out


def test_a_cut_file_of_games_is_refused_with_its_lines(cwm: Any, tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    cwm("trajectories", "record", "tic_tac_toe", "-o", file)
    file.write_text(file.read_text()[:2000])
    ran = cwm("trajectories", "check", file)
    assert ran.code == 2
    assert f"{file} is not a valid trajectory file" in ran.err
    assert "not JSON" in ran.err


@pytest.mark.parametrize("place", [".", "no/such/folder/games.jsonl", "/proc/games.jsonl"])
def test_a_place_that_cannot_be_written_is_named(refused: Any, tmp_path: Path, place: str) -> None:
    where = tmp_path / place
    ran = refused("trajectories", "record", "tic_tac_toe", "-o", where)
    assert ran.code == 4
    assert f"{where} cannot be used: " in ran.err


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_a_file_that_cannot_be_read_is_named(refused: Any, tmp_path: Path, name: str) -> None:
    ran = refused("trajectories", "check", tmp_path / name)
    assert ran.code == 2
    assert f"{tmp_path / name} cannot be read" in ran.err


def test_a_person_plays_a_game_to_its_end(cwm: Any) -> None:
    ran = cwm("play", "tic_tac_toe", typed="1\n" * 9)
    assert ran.code == 0
    assert ran.err == ""
    assert "You are x (seat 0) in tic_tac_toe." in ran.out
    assert "The whole game:" in ran.out
    assert "x (human): " in ran.out


def test_a_played_game_as_json_is_alone_on_stdout(cwm: Any) -> None:
    ran = cwm("play", "tic_tac_toe", "--json", typed="1\n" * 9)
    assert ran.json["seats"] == ["human", "random"]
    assert "You are x" in ran.err


def test_a_person_sees_their_own_card_alone_until_the_end(cwm: Any) -> None:
    ran = cwm("play", "leduc_poker", "--seed", 3, typed="call\n" * 9)
    before, _, after = ran.out.partition("The whole game, with what was hidden:")
    assert "player_0: card K(5)" in before
    assert "player_1: card ?" in before
    assert "player_1: card J" not in before
    assert "player_1: card J" in after


def test_a_person_with_another_view_is_shown_that_view(cwm: Any) -> None:
    memory = json.loads(cwm("games", "list", "--json").out)
    assert next(game for game in memory if game["id"] == "yokai-9c-2p")["views"] == ["default", "memory"]
    default = cwm("play", "yokai-9c-2p", typed="q\n").out
    other = cwm("play", "yokai-9c-2p", "--agent", "human:view=memory", typed="q\n").out
    assert default != other


def test_a_game_that_is_left_says_so(cwm: Any) -> None:
    left = cwm("play", "tic_tac_toe", typed="1\nq\n")
    assert (left.code, left.err) == (0, "You left the game; it is not scored.\n")
    ended = cwm("play", "tic_tac_toe", typed="1\n")
    assert (ended.code, ended.err) == (1, "The input ended before the game did; it is not scored.\n")


def test_ctrl_c_leaves_a_game(cwm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("rich.prompt.Prompt.ask", interrupted)
    ran = cwm("play", "tic_tac_toe")
    assert (ran.code, ran.err) == (130, "error: interrupted.\n")


@pytest.mark.parametrize(
    ("agents", "named"),
    [
        (
            ["nope"],
            "Unknown agent 'nope': expected one of random, mcts, ismcts, cwm, partner, llm, human, ippo, learned.",
        ),
        (["random"] * 3, "tic_tac_toe seats 2, but 3 agents were given."),
        (["random:view=dark"], "tic_tac_toe has the views default, not 'dark'."),
        (["cwm:/no/such/run"], "no model can be read from '/no/such/run'"),
        (["mcts:sims=many"], "simulations must be a whole number, not 'many'."),
        (["ismcts:sims=10"], "use 'mcts'"),
    ],
)
def test_an_agent_that_does_not_fit_is_refused(refused: Any, agents: list[str], named: str) -> None:
    ran = refused("play", "tic_tac_toe", *(word for agent in agents for word in ("--agent", agent)))
    assert ran.code == 2
    assert named in ran.err


def test_the_recorded_model_is_refused_where_none_ships(refused: Any) -> None:
    ran = refused("play", "kuhn_poker", "--agent", "cwm:recorded")
    assert ran.code == 2
    assert "No recorded completions ship for kuhn_poker" in ran.err
