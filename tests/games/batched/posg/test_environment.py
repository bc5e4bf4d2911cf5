"""Batched games of simultaneous moves as learners meet them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.batched import registry
from games.batched.posg.environment import SimultaneousEnv, SimultaneousState
from games.batched.posg.game import partners, rules

STAY, UP, DOWN, LEFT, RIGHT = range(5)


def keys_at(number, lanes):
    return jax.random.split(jax.random.key(number), lanes)


@pytest.fixture(scope="module")
def env():
    return registry.make("cooperative-reaching").env("default")


@pytest.fixture(scope="module")
def act():
    return jax.jit(partners("cooperative-reaching")["H7"].act)


@pytest.fixture(scope="module")
def play():
    """What plays a step of one game without a limit, and tells all of it."""
    plain = SimultaneousEnv(rules("cooperative-reaching"))

    @jax.jit
    def played(state, actions):
        after, paid = plain.step(state, actions, jax.random.key(0))
        return after, paid, plain.legal_mask(after), plain.outcome(after), plain.observe(state)

    return played


def at(*cells):
    return SimultaneousState(jnp.array(cells), jnp.zeros(2), jnp.zeros((), jnp.int32))


def test_agents_who_meet_at_a_goal_are_paid_and_their_game_ends(play):
    met, paid, legal, _, seen = play(at(1, 5), np.array([LEFT, UP]))
    assert seen[:, 0, 0].tolist() == [[1, 0, 0, 1], [0, 1, 1, 0]]
    assert met.game.tolist() == [0, 0]
    assert paid.reward.tolist() == [1.0, 1.0]
    assert bool(paid.done)
    assert legal.tolist() == [[True] + 4 * [False]] * 2
    stayed, unpaid, _, outcome, _ = play(met, np.array([STAY, RIGHT]))
    assert stayed.game.tolist() == [0, 0]
    assert unpaid.reward.tolist() == [0.0, 0.0]
    assert not unpaid.done
    assert (float(outcome.total), int(outcome.length)) == (1.0, 1)
    assert {name: bool(value) for name, value in outcome.figures.items()} == {"met": True, "best": True}


def test_an_unknown_action_is_told_and_the_first_one_is_played(play):
    after, paid, *_ = play(at(7, 8), np.array([5, DOWN]))
    assert after.game.tolist() == [7, 13]
    assert paid.info["illegal"].tolist() == [True, False]


def test_games_are_cut_off_at_their_limit_of_steps(env):
    state, nothing = jax.jit(env.init)(keys_at(0, 2)), np.zeros((2, 2), np.int32)
    step, keys = jax.jit(env.step), keys_at(0, 2)
    for number in range(50):
        state, paid = step(state, nothing, keys)
        assert paid.done.tolist() == [number == 49] * 2
    assert paid.info["cut"].all()
    assert state.game.length.tolist() == [50, 50]


def test_agents_start_everywhere_inside_and_do_all_that_they_may(env):
    state = jax.jit(env.init)(keys_at(1, 4096))
    counts = np.bincount(np.asarray(state.game.game[0]), minlength=25).reshape(5, 5)
    assert counts.sum() == counts[1:4, 1:4].sum() == 4096
    assert np.abs(counts[1:4, 1:4] - 4096 / 9).max() < 5 * np.sqrt(4096 / 9)
    drawn = env.sample(state, jnp.linspace(0, 0.9999, 4096))
    assert np.unique(drawn, axis=0).tolist() == [[one, two] for one in range(5) for two in range(5)]


def test_a_partner_draws_its_actions_by_their_probabilities_from_a_key_of_its_own(env, act):
    state = jax.jit(env.init)(keys_at(1, 4096))
    policy = partners("cooperative-reaching")["H7"]
    seen, legal = env.observe(state)[:, 0], env.legal_mask(state)[:, 0]
    memory, actions = act((), policy.initial(4096), seen, legal, keys_at(2, 4096))
    shares = np.bincount(np.asarray(actions), minlength=5) / 4096
    # From the middle of the field, and on average from everywhere in it, each way leads to two of the four goals.
    np.testing.assert_allclose(shares, [0.0, 0.25, 0.25, 0.25, 0.25], atol=0.04)
    assert memory.action.tolist() == actions.tolist()
    # Where the game is over, nothing is told and one action alone is left.
    only = np.broadcast_to(np.arange(5) == 0, legal.shape)
    _, actions = act((), memory, np.zeros_like(seen), only, keys_at(2, 4096))
    assert not actions.any()
