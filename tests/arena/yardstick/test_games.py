"""The twenty games that nobody prepared are the fixed ones; `python -m tests.renew_yardstick` renews their hashes."""

import re
from collections.abc import Iterable
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest

from arena.runs.inputs import own
from arena.yardstick import games
from arena.yardstick.games import YardstickError, YardstickGame, book, load
from cwm.trajectories.files import infer_info, read
from cwm.trajectories.recorded import Trajectory
from games import registry
from games.contract.game import assert_game

YARDSTICK = load()
NAMES = [game.name for game in YARDSTICK.games]
QUICK = ("nim", "first_sealed_auction", "sheriff")
"""Games whose forty recorded games are played within a tenth of a second."""
MOST_WORDS = 250
MOST_ACTIONS = 120
LEFT_OUT = {"liars_dice", "oware", "phantom_ttt", "hanabi", "tiny_hanabi"}
OF_PROGRAMS = re.compile(
    r"`|[{}\[\]]|_|\b[a-z]+[A-Z]|\b(JSON|strings?|lists?|arrays?|index|indices|null|dict|posterior|infer|algorithm)\b"
)
"""Code and brackets, names joined by underscores or capitals, and words about data rather than about a game."""


def kinds(trajectories: Iterable[Trajectory]) -> set[str]:
    """Returns the actions that could be chosen, with # for every number and for every letter of a column."""
    named = (action for one in trajectories for step in one.steps for action in step.legal_actions)
    return {re.sub(r"[a-h]?\d+", "#", action) for action in named}


def test_there_are_twenty_games_half_of_them_with_chance_or_hidden_information():
    assert [game.information for game in YARDSTICK.games] == ["perfect"] * 10 + ["chance or hidden"] * 10


def test_more_than_two_play_in_at_least_three_games():
    assert sum(game.players > 2 for game in YARDSTICK.games) >= 3


def test_six_games_are_to_learn_from_and_thirty_four_for_the_test():
    assert (YARDSTICK.learn, YARDSTICK.held_out) == (6, 34)


def test_no_game_is_there_twice_or_has_a_folder_here():
    folders = {registry.describe(game_id).package.rpartition(".")[2] for game_id in registry.ids()}
    assert len(set(NAMES)) == len(NAMES)
    assert not set(NAMES) & (folders | LEFT_OUT | set(registry.ids()))
    assert all(registry.describe(game.id).package == "" for game in YARDSTICK.games)


@pytest.mark.parametrize("game", YARDSTICK.games, ids=NAMES)
def test_the_table_says_of_a_game_what_openspiel_says(game: YardstickGame):
    info = registry.make(game.id).info
    open_to_all = info.perfect_information and not info.has_chance
    assert (info.num_players, open_to_all) == (game.players, game.information == "perfect")


def test_every_game_has_a_rule_book_and_every_rule_book_a_game():
    folder = Path(str(resources.files("arena.yardstick").joinpath("rule_books")))
    assert sorted(path.name for path in folder.iterdir()) == sorted(f"{name}.md" for name in NAMES)


@pytest.mark.parametrize("game", YARDSTICK.games, ids=NAMES)
def test_a_rule_book_is_the_fixed_one_short_and_written_for_people(game: YardstickGame):
    text = YARDSTICK.rule_book(game)
    assert text.startswith(f"# {game.title}\n")
    assert len(text.split()) <= MOST_WORDS
    assert OF_PROGRAMS.findall(text) == []


@pytest.mark.parametrize("name", QUICK)
def test_played_games_are_the_fixed_ones(name: str):
    found = YARDSTICK.trajectories(YARDSTICK.game(name))
    assert len(found) == 40
    assert games.games_hash(found) == YARDSTICK.game(name).games_sha256


def test_an_altered_rule_book_is_noticed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(games, "book", lambda name: book(name).replace("two", "three", 1))
    with pytest.raises(
        YardstickError, match="The rule book of nim is not the one that version 2 of the yardstick fixes"
    ):
        YARDSTICK.rule_book(YARDSTICK.game("nim"))


def test_games_of_another_seed_or_other_parameters_are_noticed():
    nim = YARDSTICK.game("nim")
    for other in (replace(nim, seed=1), replace(nim, id="open_spiel:nim(pile_sizes=2;3;4;6)")):
        with pytest.raises(YardstickError, match="its row in the table, or the code that plays"):
            YARDSTICK.trajectories(other)


def test_one_step_that_differs_changes_the_hash():
    played = YARDSTICK.trajectories(YARDSTICK.game("nim"))
    last = played[-1]
    steps = (*last.steps[:-1], replace(last.steps[-1], rewards=(0.0, 0.0)))
    assert games.games_hash([*played[:-1], replace(last, steps=steps)]) != games.games_hash(played)


def test_a_changed_openspiel_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch):
    nim = replace(YARDSTICK.game("nim"), games_sha256="0" * 64)
    monkeypatch.setattr(games, "version", lambda distribution: "9.8.7")
    with pytest.raises(YardstickError) as caught:
        YARDSTICK.trajectories(nim)
    fixed = YARDSTICK.open_spiel
    assert str(caught.value) == (
        "The played games of nim are not those that version 2 of the yardstick fixes: those were played with OpenSpiel "
        f"{fixed}, and the installed OpenSpiel 9.8.7 plays or shows the game differently; install open_spiel=={fixed}."
    )


def test_an_unknown_game_is_told_with_the_known_ones():
    with pytest.raises(YardstickError, match=f"no game 'chess'; it has {', '.join(NAMES)}"):
        YARDSTICK.game("chess")


def test_what_is_written_is_what_a_synthesis_takes(tmp_path: Path):
    nim = YARDSTICK.game("nim")
    asked = YARDSTICK.write(nim, tmp_path / "new")
    inputs = own(asked.rules, asked.trajectories, asked.held_out, asked.stated, how=asked.how)
    played = tuple(YARDSTICK.trajectories(nim))
    assert inputs.rules == book("nim")
    assert (inputs.train, inputs.held_out) == (played[:6], played[6:])
    assert inputs.telling.names is None


def test_a_synthesis_is_told_that_all_is_open_where_records_do_not_show_it(tmp_path: Path):
    asked = YARDSTICK.write(YARDSTICK.game("breakthrough"), tmp_path)
    assert not infer_info(read(asked.trajectories)).perfect_information
    assert own(asked.rules, asked.trajectories, asked.held_out, asked.stated, how=asked.how).info.perfect_information


def test_files_written_twice_are_equal(tmp_path: Path):
    nim = YARDSTICK.game("nim")
    first, second = (YARDSTICK.write(nim, tmp_path / name) for name in "ab")
    assert first.trajectories.read_bytes() == second.trajectories.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("game", YARDSTICK.games, ids=NAMES)
def test_all_played_games_are_fixed_short_and_fit_to_measure_by(game: YardstickGame):
    played = YARDSTICK.trajectories(game)
    assert all(len(one.steps) - 1 <= MOST_ACTIONS for one in played)
    actions = [tuple(step.action for step in one.steps) for one in played]
    assert not set(actions[: YARDSTICK.learn]) & set(actions[YARDSTICK.learn :])
    assert kinds(played[YARDSTICK.learn :]) <= kinds(played[: YARDSTICK.learn])
    for part in (played[: YARDSTICK.learn], played[YARDSTICK.learn :]):
        assert len({tuple(one.returns) for one in part}) > 1
    assert_game(registry.make(game.id), games=2)
