"""Packed games are the games that were packed, in less memory."""

from dataclasses import replace

import pytest

from cwm.trajectories.packed import PackedGames
from cwm.trajectories.recorded import Trajectory, collect
from games import registry


@pytest.fixture(scope="module")
def games() -> list[Trajectory]:
    games = collect(registry.make("leduc_poker"), 6, 3)
    return [*games[:5], replace(games[5], seed=None, seat=1)]


def test_packed_games_come_out_as_they_went_in(games: list[Trajectory]) -> None:
    packed = PackedGames(games)
    assert list(packed) == games
    assert (len(packed), packed[2], packed[-1]) == (6, games[2], games[5])
    assert [type(step.observations) for step in packed[0].steps] == [tuple] * len(games[0].steps)


def test_a_part_of_packed_games_is_packed_too(games: list[Trajectory]) -> None:
    part = PackedGames(games)[1:3]
    assert isinstance(part, PackedGames)
    assert list(part) == games[1:3]
    part.add(games[0])
    assert [game.index for game in part] == [1, 2, 0]
    with pytest.raises(IndexError):
        part[3]


def test_games_can_be_walked_through_again_and_again(games: list[Trajectory]) -> None:
    packed = PackedGames(iter(games))
    assert [game.index for game in packed] == [game.index for game in packed] == list(range(6))
