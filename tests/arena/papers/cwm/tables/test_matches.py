from collections.abc import Callable
from pathlib import Path

import pytest

from arena.matches.match import GameRecord
from arena.matches.store import GameStore
from arena.papers.cwm.tables import matches
from arena.papers.cwm.tables.places import MATCHES, PLAYER, Place

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
    assert [record.seats[1] for record in matches.games(usual, live=True)] == ["random", "llm"]


def test_recorded_games_count_where_nobody_plays_live(
    usual: Place, record: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.matches.recorded_games.games", lambda game: [record("llm cwm", [0.0, 0.0])])
    assert len(matches.games(usual, live=False)) == 3
    assert len(matches.games(usual, live=True)) == 2


def test_model_that_plays_in_no_game_is_tested_on_those_of_the_usual_one(usual: Place) -> None:
    other = Place(usual.root, "tic_tac_toe", "conversation", 0)
    assert matches.games(other, live=True) == matches.games(usual, live=True)
    assert matches.games(Place(usual.root, "tic_tac_toe", "conversation", 1), live=True) == []


def test_other_games_are_another_evaluation(usual: Place, record: Build) -> None:
    played = matches.games(usual, live=True)
    assert matches.folder(usual, played) != matches.folder(usual, [*played, record("cwm random", [0.0, 0.0], length=3)])
    assert matches.folder(usual, played) == matches.folder(usual, list(played))
