"""Batched games of simultaneous moves against their references: every state, vector, mask, reward, end and policy."""

import pytest

from games.batched.posg import differential
from games.batched.posg.cooperative_reaching.rules import ReachingRules
from games.batched.posg.game import _PARTS
from games.posg.cooperative_reaching.model import CooperativeReaching
from games.posg.driving.model import Driving
from games.posg.predator_prey.model import PredatorPrey
from games.posg.pursuit_evasion.model import PursuitEvasion

QUICK_GAMES = 24
SLOW_GAMES = 4_000


@pytest.fixture
def few_side_by_side(monkeypatch):
    """Has quick tests play no more games at a time than they ask for."""
    monkeypatch.setattr(differential, "BATCH", QUICK_GAMES)


LIKE_ANOTHER = ("foraging",)
"""Differ in their starts alone from a game that is tried."""


@pytest.mark.parametrize(
    "game_id", [pytest.param(name, marks=pytest.mark.slow if name in LIKE_ANOTHER else ()) for name in _PARTS]
)
def test_games_and_policies_agree_at_every_step(game_id, few_side_by_side):
    report = differential.compare(game_id, QUICK_GAMES, seed=7)
    assert report.differences == []
    assert report.games == QUICK_GAMES
    assert report.steps > 10 * QUICK_GAMES
    assert report.wins >= QUICK_GAMES / 8


@pytest.mark.slow
@pytest.mark.parametrize("game_id", _PARTS)
def test_thousands_of_games_agree_at_every_step(game_id):
    report = differential.compare(game_id, SLOW_GAMES, seed=11)
    assert report.differences == []
    assert report.steps > 50_000


@pytest.fixture
def with_model(monkeypatch):
    """Has a game be compared on another model of it."""

    def change(game_id, model):
        parts = _PARTS[game_id]
        monkeypatch.setattr(differential, "rules", lambda _: parts.rules(model))
        monkeypatch.setattr(differential, "partners", lambda _: parts.partners(model))
        differential._compiled.cache_clear()

    yield change
    differential._compiled.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        CooperativeReaching(size=6, sight=1, steps=80),
        Driving(agents=3),
        Driving("small roundabout", agents=4, view=(2, 1, 2)),
        PredatorPrey("documented"),
        PursuitEvasion("8x8", "documented"),
    ],
)
def test_other_sizes_and_variants_agree_with_the_reference(model, with_model, few_side_by_side):
    with_model(model.info.id, model)
    report = differential.compare(model.info.id, 8 * QUICK_GAMES, seed=5)
    assert report.differences == []
    assert report.wins >= QUICK_GAMES


@pytest.mark.slow
def test_wrong_rules_and_wrong_policies_are_found(monkeypatch, few_side_by_side):
    game_id = "cooperative-reaching"
    monkeypatch.setattr(ReachingRules, "_paid", lambda self, game: 1.0 * (game[0] == game[1]))
    twins = differential.partners(game_id)
    monkeypatch.setattr(differential, "partners", lambda _: {**twins, "H8": twins["H9"], "H1": twins["H2"]})
    differential._compiled.cache_clear()
    try:
        report = differential.compare(game_id, QUICK_GAMES, seed=7)
    finally:
        differential._compiled.cache_clear()
    assert any("the reward is" in difference for difference in report.differences)
    assert any("of agent" in difference for difference in report.differences)
