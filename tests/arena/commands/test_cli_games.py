from pathlib import Path
from typing import Any

import pytest

from games import registry


def test_list_names_every_game(cwm: Any) -> None:
    assert [game["id"] for game in cwm("games", "list", "--json").json] == registry.ids()
    shown = cwm("games", "list").out
    assert all(game in shown for game in registry.ids())
    assert "yokai-8c-2p: reduced setting, not in the paper" in shown


def test_rules_are_told_by_the_book_unless_the_specification_is_asked_for(cwm: Any) -> None:
    assert cwm("games", "rules", "kuhn_poker").out.strip() == registry.rule_book("kuhn_poker").strip()
    told = cwm("games", "rules", "kuhn_poker", "--rules-detail", "specification").out
    assert told.strip() == registry.rules("kuhn_poker").strip()


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


@pytest.mark.parametrize(
    ("agents", "named"),
    [
        (
            ["nope"],
            "Unknown agent 'nope': expected one of random, mcts, ismcts, blueprint, posg, cwm, partner, llm, human, "
            "ippo, learned, python, exec.",
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
    ran = refused("play", "yokai-8c-2p", "--agent", "cwm:recorded")
    assert ran.code == 2
    assert "No recorded completions ship for yokai-8c-2p" in ran.err
