"""The recorded twin of Yōkai beside the batched game that was written by hand: equal games under equal actions."""

import jax
import numpy as np
import pytest

from cwm.twins.compiled import CompiledTwin
from cwm.twins.play import CHANCE, TERMINAL
from cwm.twins.stored import StoredTwin
from games import registry
from games.batched.registry import table_of
from games.batched.yokai.environment import make
from games.batched.yokai.json import from_json

pytestmark = pytest.mark.slow
GAME = "yokai-9c-2p"
GAMES = 1000


@pytest.fixture(scope="module")
def traced(yokai):
    return StoredTwin.load(yokai).traced


def drawn(weights, draws):
    sums = np.cumsum(weights.astype(np.float64), axis=1)
    return np.argmax(sums > draws.random((len(sums), 1)) * sums[:, -1:] * 0.999999, axis=1).astype(np.int32)


def dealt(twin, form, draws):
    """Returns rows of the twin, and states of the reference, after the same deals."""
    game = registry.make(GAME)
    states = [game.initial_state() for _ in range(GAMES)]
    rows = tuple(np.repeat(part, GAMES, axis=0) for part in twin.init())
    while True:
        seen = twin.look(rows)
        if not (seen["player"] == CHANCE).all():
            assert (seen["player"] == 0).all()
            return rows, states
        index = drawn(seen["chance"], draws)
        states = [game.apply_action(state, form.outcomes[own]) for state, own in zip(states, index, strict=True)]
        rows = twin.step(rows, index)


def test_masks_rewards_and_ends_of_a_thousand_games_are_equal_at_every_step(traced):
    form, draws = traced.form, np.random.default_rng(0)
    env = make(GAME)
    numbers = {name: number for number, name in enumerate(table_of(GAME).actions)}
    assert sorted(form.actions) == sorted(numbers)
    to_hand = np.array([numbers[name] for name in form.actions], np.int32)
    step, mask, outcome = jax.jit(env.step), jax.jit(env.legal_mask), jax.jit(env.outcome)
    with CompiledTwin(traced) as twin:
        rows, states = dealt(twin, form, draws)
        hand = from_json(env, states)
        totals, ended = np.zeros((GAMES, 2), np.float32), np.zeros(GAMES, bool)
        for _ in range(registry.make(GAME).info.max_length):
            seen = twin.look(rows)
            mover = np.maximum(seen["player"], 0)
            assert (np.asarray(hand.player)[~ended] == mover[~ended]).all()
            legal = np.asarray(mask(hand))[np.arange(GAMES), mover][:, to_hand]
            assert (legal[~ended] == seen["legal"][~ended]).all()
            index = drawn(seen["legal"], draws)
            joint = np.zeros((GAMES, 2), np.int32)
            joint[np.arange(GAMES), mover] = to_hand[index]
            hand, paid = step(hand, joint)
            following = twin.step(rows, index)
            rows = tuple(np.where(ended[:, None], old, new) for old, new in zip(rows, following, strict=True))
            after = twin.look(rows)
            reward = np.where(ended[:, None], 0, after["rewards"])
            assert (np.where(ended[:, None], 0, np.asarray(paid.reward)) == reward).all()
            totals += reward
            ended |= after["player"] == TERMINAL
            assert (np.asarray(paid.done) == ended).all()
    assert ended.all()
    assert (totals == np.asarray(outcome(hand).total)[:, None]).all()
    assert len(set(totals[:, 0].tolist())) > 3
