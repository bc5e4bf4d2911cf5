"""Batched Hanabi by itself: decks, lanes, illegal actions, what the counts of cards tell."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.api import GameError
from games.batched import registry
from games.batched.api import lane
from games.batched.hanabi.environment import make
from games.batched.hanabi.state import NOTHING

LANES = 6
KEYS = jax.random.split(jax.random.key(0), LANES)


@pytest.fixture(scope="module")
def tiny():
    """The smallest variant, and random games after every step until all are over."""
    env = make("hanabi-tiny-2p")
    state, move = jax.jit(env.init)(KEYS), jax.jit(env.step)
    sample = jax.jit(env.sample)
    states = [state]
    for number in range(env.sizes.max_length):
        actions = sample(states[-1], jax.random.uniform(jax.random.key(number), (LANES,)))
        states.append(move(states[-1], actions)[0])
    return env, jax.device_get(states), move


@pytest.fixture(scope="module")
def alone(tiny):
    """Plays and shows one game without a lane axis."""
    env = tiny[0]

    def step(state, actions):
        after, paid = env.step(state, actions)
        return after, paid, env.observe(after), env.legal_mask(after)

    return jax.jit(step)


@pytest.fixture(scope="module")
def show(tiny):
    """What the players of all lanes see in both views, and may do."""
    env = tiny[0]
    counted = registry.make("hanabi-tiny-2p").env("v0")
    return jax.jit(lambda state: (env.observe(state), counted.observe(state), env.legal_mask(state)))


def test_decks_hold_every_card_and_differ(tiny):
    env, states, _ = tiny
    decks = np.asarray(states[0].deck).T
    np.testing.assert_array_equal(np.sort(decks, axis=1), np.tile(env.sizes.sorted_deck, (LANES, 1)))
    assert len({tuple(deck) for deck in decks}) > 1
    np.testing.assert_array_equal(jax.jit(env.init)(KEYS[2]).deck, decks[2])


def test_one_game_is_the_same_alone_and_among_others(tiny, alone, show):
    env, states, move = tiny
    actions = np.full((LANES, 2), env.sizes.hand)  # everybody plays the oldest card
    moved, paid = jax.device_get(move(states[3], actions))
    seen, _, mask = jax.device_get(show(moved))
    for number in range(LANES):
        own, own_paid, own_seen, own_mask = alone(lane(states[3], number), actions[number])
        jax.tree.map(np.testing.assert_array_equal, own, lane(moved, number))
        np.testing.assert_array_equal(own_paid.reward, paid.reward[number])
        np.testing.assert_array_equal(own_seen, seen[number])
        np.testing.assert_array_equal(own_mask, mask[number])


def test_all_games_are_over_at_the_greatest_length_and_stay_so(tiny, show):
    env, states, move = tiny
    assert (np.asarray(states[-1].player) == NOTHING).all()
    after, paid = move(states[-1], np.zeros((LANES, 2), np.int32))
    jax.tree.map(np.testing.assert_array_equal, after, states[-1])
    assert not np.asarray(paid.reward).any()
    assert np.asarray(paid.done).all()
    mask = np.asarray(show(after)[2])
    np.testing.assert_array_equal(mask.sum(axis=-1), 1)
    assert mask[..., env.sizes.no_op].all()


def test_what_is_not_legal_is_replaced_by_the_lowest_legal_action(tiny, alone, show):
    env, states, _ = tiny
    lowest = int(np.flatnonzero(show(states[0])[2][0, 0])[0])
    assert lowest == env.sizes.hand  # no discard with all tokens there: the first play
    start = lane(states[0], 0)
    wrong, paid, *_ = alone(start, np.array([0, env.sizes.no_op]))
    right, fine, *_ = alone(start, np.array([lowest, env.sizes.no_op]))
    jax.tree.map(np.testing.assert_array_equal, wrong, right)
    assert np.asarray(paid.info["illegal"]).tolist() == [True, False]
    assert np.asarray(fine.info["illegal"]).tolist() == [False, False]


def test_a_lost_life_keeps_points_and_pays_them_back(tiny, alone):
    env = tiny[0]
    # Hands 1 5 and 2 3: player 0 scores, player 1 scores, player 0 plays the 5 and loses the only life.
    deck = jnp.array([0, 4, 1, 2, 0, 0, 1, 2, 3, 3], jnp.int8)
    state, rewards = env.start(deck), []
    for player in (0, 1, 0):
        actions = np.full(2, env.sizes.no_op)
        actions[player] = env.sizes.hand
        state, paid, *_ = alone(state, actions)
        rewards.append(float(paid.reward[0]))
    assert rewards == [1.0, 1.0, -2.0]
    outcome = env.outcome(state)
    assert (float(outcome.total), int(outcome.length)) == (0.0, 3)
    found = {name: value.item() for name, value in outcome.figures.items()}
    assert found == {
        "won": False,
        "ended_early": True,
        "won_early": False,
        "score_if_won": 0.0,
        "points": 2,
        "perfect": False,
        "lives": 0,
    }


def test_counted_chances_add_up_and_are_zero_where_hints_exclude(tiny, show):
    env, states, _ = tiny
    a_card = env.sizes.kinds + env.sizes.colours + env.sizes.ranks
    shown = [np.asarray(seen).reshape(LANES, 2, -1) for seen in show(states[5])[:2]]
    told, chance = (seen[..., -4 * a_card :].reshape(LANES, 2, 4, a_card) for seen in shown)
    np.testing.assert_array_equal(shown[0][..., : -4 * a_card], shown[1][..., : -4 * a_card])
    np.testing.assert_array_equal(told[..., 5:], chance[..., 5:])
    held = told[..., :5].any(axis=-1)
    np.testing.assert_allclose(chance[..., :5].sum(axis=-1), held, atol=1e-6)
    assert not chance[..., :5][told[..., :5] == 0].any()
    begun = np.asarray(show(states[0])[1])[0, 0, 0, 0, -4 * a_card :][:5]
    np.testing.assert_allclose(begun, [0.3, 0.2, 0.2, 0.2, 0.1], atol=1e-6)


def test_unknown_games_beliefs_and_views_are_refused():
    with pytest.raises(GameError, match="known: hanabi-2p"):
        make("hanabi-6p")
    with pytest.raises(GameError, match="the beliefs mask and v0, not 'v1'"):
        make("hanabi-2p", "v1")
    with pytest.raises(GameError, match="has no view 'memory'; it has default and v0"):
        registry.make("hanabi-2p").env("memory")
