"""Batched Hanabi against OpenSpiel's: every mask, feature, reward and end of whole games."""

import jax.numpy as jnp
import pytest

from games.batched import registry
from games.batched.hanabi import differential
from games.batched.hanabi.environment import HanabiEnv
from games.hanabi.config import VARIANTS

QUICK_GAMES = 30
SLOW_GAMES = 1_000
FEATURES = {"hanabi-2p": 658, "hanabi-3p": 956, "hanabi-4p": 1_041, "hanabi-5p": 1_280}


@pytest.fixture
def few_side_by_side(monkeypatch):
    """Has quick tests play no more games at a time than they ask for."""
    monkeypatch.setattr(differential, "BATCH", QUICK_GAMES)


@pytest.mark.parametrize("game_id", ["hanabi-2p", "hanabi-tiny-2p"])
def test_random_and_careful_games_agree_at_every_step(game_id, few_side_by_side):
    report = differential.compare(game_id, QUICK_GAMES, seed=7)
    assert report.differences == []
    assert report.games == QUICK_GAMES
    assert report.steps > 8 * QUICK_GAMES
    assert report.wins >= QUICK_GAMES / 3


@pytest.mark.slow
@pytest.mark.parametrize("game_id", VARIANTS)
def test_a_thousand_games_agree_at_every_step(game_id):
    report = differential.compare(game_id, SLOW_GAMES, seed=11)
    assert report.differences == []
    assert report.games == SLOW_GAMES


@pytest.mark.slow
def test_a_wrong_rule_is_found(monkeypatch, few_side_by_side):
    monkeypatch.setattr(HanabiEnv, "_points", lambda self, state: state.fireworks.sum(axis=0, dtype=jnp.int32))
    differential._compiled.cache_clear()
    try:
        report = differential.compare("hanabi-tiny-2p", QUICK_GAMES, seed=7)
    finally:
        differential._compiled.cache_clear()
    assert any("reward is" in difference for difference in report.differences)


def test_every_registered_variant_has_openspiels_sizes():
    for game_id, sizes in VARIANTS.items():
        game = registry.make(game_id)
        native = differential.native_game(game_id)
        env = game.env("default")
        assert game.id == game_id
        assert game.num_players == sizes.players == env.num_players
        assert env.image_shape == (1, 1, native.observation_tensor_size())
        assert env.num_actions == native.num_distinct_actions() + 1
        assert env.image_shape[-1] == FEATURES.get(game_id, env.image_shape[-1])
