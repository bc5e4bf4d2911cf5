from collections.abc import Callable
from pathlib import Path

import pytest

from arena.match import GameRecord
from arena.paper import online
from arena.paper.places import MATCHES, PLAYER, Place
from arena.store import GameStore

Build = Callable[..., GameRecord]


@pytest.fixture
def usual(tmp_path: Path, record: Build) -> Place:
    """Returns the usual synthesis of a game, whose model was played once with random and once with a live model."""
    place = Place(tmp_path, "tic_tac_toe", "tree", 0)
    for part, other in ((MATCHES, "random"), (PLAYER, "llm")):
        with GameStore(place.part(part), {}) as kept:
            kept.add(part, record(f"cwm {other}", [1.0, -1.0]))
    return place


def test_games_with_every_opponent_count(usual: Place) -> None:
    assert [record.seats[1] for record in online.games(usual, live=True)] == ["random", "llm"]


def test_recorded_games_count_where_nobody_plays_live(
    usual: Place, record: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.paper.recorded_players.games", lambda game: [record("llm cwm", [0.0, 0.0])])
    assert len(online.games(usual, live=False)) == 3
    assert len(online.games(usual, live=True)) == 2


def test_model_that_plays_in_no_game_is_tested_on_those_of_the_usual_one(usual: Place) -> None:
    other = Place(usual.root, "tic_tac_toe", "conversation", 0)
    assert online.games(other, live=True) == online.games(usual, live=True)
    assert online.games(Place(usual.root, "tic_tac_toe", "conversation", 1), live=True) == []


def test_other_games_are_another_evaluation(usual: Place, record: Build) -> None:
    played = online.games(usual, live=True)
    assert online.folder(usual, played) != online.folder(usual, [*played, record("cwm random", [0.0, 0.0], length=3)])
    assert online.folder(usual, played) == online.folder(usual, list(played))
