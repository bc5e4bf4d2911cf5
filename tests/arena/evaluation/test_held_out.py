"""Held-out games: the same whoever plays them, played once, and not trusted where they are kept."""

import itertools
import json
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest

from arena.evaluation import held_out, held_out_games, kept_games
from arena.evaluation.kept_games import KeptGames
from arena.evaluation.mixture import collect_mixed, standard_mixture
from arena.runs.inputs import registered
from arena.runs.settings import RunSettings
from cwm.trajectories.packed import PackedGames
from cwm.trajectories.recorded import Trajectory, game_seed
from games import registry
from games.api import Game, NamesEnds

SEED = 11


@pytest.fixture(scope="module")
def game() -> Game:
    return registry.make("leduc_poker")


@pytest.fixture(scope="module")
def expected(game: Game) -> list[Trajectory]:
    return collect_mixed(game, 6, SEED, standard_mixture(game))


def first(number: int, played: Generator[Trajectory, None, None]) -> list[Trajectory]:
    with closing(played):
        return list(itertools.islice(played, number))


def test_games_do_not_depend_on_the_number_of_processes(
    game: Game, expected: list[Trajectory], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert first(6, held_out.play(game, SEED)) == expected
    monkeypatch.setattr(held_out, "ALONE_S", 0.0)
    assert first(6, held_out.play(game, SEED, workers=2)) == expected


def test_games_that_are_kept_are_not_played_again(
    game: Game, expected: list[Trajectory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert first(4, held_out.play(game, SEED, kept=tmp_path)) == expected[:4]

    def play_from(game: Game, games: int, seed: int, mixture: object, first: int) -> list[Trajectory]:
        assert first >= 4
        return expected[first : first + games]

    monkeypatch.setattr(held_out, "collect_mixed", play_from)
    assert first(6, held_out.play(game, SEED, kept=tmp_path)) == expected


def test_damaged_and_impossible_games_are_played_again(game: Game, expected: list[Trajectory], tmp_path: Path) -> None:
    first(3, held_out.play(game, SEED, kept=tmp_path))
    (path,) = (tmp_path / kept_games.FOLDER).iterdir()
    lines = path.read_text().splitlines()
    other = json.dumps([json.loads(lines[0])[0], *json.loads(lines[1])[1:]])
    path.write_text("\n".join([lines[0], other, lines[2][:-9]]) + "\n")
    assert [index in KeptGames(tmp_path, game.info.id, SEED) for index in range(3)] == [True, False, False]
    assert first(3, held_out.play(game, SEED, kept=tmp_path)) == expected[:3]
    KeptGames(tmp_path, game.info.id, SEED).add(1, ["no such action"])
    assert first(3, held_out.play(game, SEED, kept=tmp_path)) == expected[:3]
    assert 1 in KeptGames(tmp_path, game.info.id, SEED)
    path.write_text("5\nnull\n" + lines[0] + "\n")
    assert 0 in KeptGames(tmp_path, game.info.id, SEED)


def test_games_of_other_code_seeds_and_games_are_kept_apart(
    game: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    KeptGames(tmp_path, "leduc_poker", SEED).add(0, ["Call"])
    assert 0 in KeptGames(tmp_path, "leduc_poker", SEED)
    assert 0 not in KeptGames(tmp_path, "leduc_poker", SEED + 1)
    assert 0 not in KeptGames(tmp_path, "kuhn_poker", SEED)
    monkeypatch.setattr(kept_games, "_code", lambda: "other rules")
    assert 0 not in KeptGames(tmp_path, "leduc_poker", SEED)


def test_a_folder_that_cannot_be_written_only_costs_time(
    game: Game, expected: list[Trajectory], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    assert first(2, held_out.play(game, SEED, kept=tmp_path / "file")) == expected[:2]


def test_games_that_name_their_ends_are_played_until_there_are_enough_of_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = registry.make("hanabi-tiny-2p")
    assert isinstance(game, NamesEnds)
    monkeypatch.setattr(held_out_games, "MIN_ENDS", 15)
    inputs, settings = registered(game.info.id, 5, 0), RunSettings(game.info.id, True, test_transitions=200)
    games = held_out_games.held_out_games(inputs, settings)
    counts = held_out_games.ends(games, game)
    assert set(game.ends) == {"bombed out", "deck out", "perfect"}
    assert min(counts[end] for end in game.ends) == 15
    assert [played.index for played in games] == list(range(len(games)))
    assert len({tuple(step.action for step in played.steps) for played in games}) > 0.9 * len(games)
    fewer = RunSettings(game.info.id, True, test_transitions=14)
    assert len(held_out_games.held_out_games(inputs, fewer)) == held_out_games.TEST_BATCH


def test_held_out_games_are_packed_and_come_in_whole_batches(tmp_path: Path) -> None:
    inputs = registered("leduc_poker", 5, 0)
    games = held_out_games.held_out_games(inputs, RunSettings("leduc_poker", True, test_transitions=200), 1, tmp_path)
    assert isinstance(games, PackedGames)
    assert len(games) == 40
    assert [game.index for game in games] == list(range(40))
    mixture = standard_mixture(registry.make("leduc_poker"))
    own = game_seed(0, held_out_games.TEST_SEED_OFFSET)
    assert list(games) == collect_mixed(registry.make("leduc_poker"), 40, own, mixture)
