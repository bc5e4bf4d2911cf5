import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.batched.wrappers import AutoReset
from search.learn.api import Outputs
from search.learn.methods import state_buffer
from search.learn.methods.state_buffer import BufferedStarts
from search.learn.networks.config import NetworkConfig

from .conftest import Bits


class Stubborn:
    """A policy that always says its parameter, and critics nothing."""

    num_actions = 3
    config = NetworkConfig()

    def initial_memory(self, lanes):
        return ()

    def apply(self, params, memory, observation, starts):
        logits = jnp.broadcast_to(1e4 * jax.nn.one_hot(1 + params, 3), (*starts.shape, 3))
        return memory, Outputs(logits, jnp.zeros(starts.shape), logits)


POLICIES = jnp.arange(2)
"""One says 0, the other 1."""
ROLLOUTS = 3


@pytest.fixture(scope="module")
def filled():
    fill = jax.jit(lambda key: state_buffer.fill(Bits(), Stubborn(), POLICIES, ROLLOUTS, 5, key, every=1))
    return jax.tree.map(np.asarray, fill(jax.random.key(0)))


def rows(states):
    return [(int(clock), int(said)) for clock, said in zip(states.clock, states.said, strict=True)]


def test_the_buffer_holds_the_states_of_all_pairs_and_none_that_is_over(filled):
    assert filled.states.clock.shape == (state_buffer.capacity(2, ROLLOUTS, 5, 1),) == (60,)
    assert filled.filled == 4 * ROLLOUTS * 3
    kept = rows(jax.tree.map(lambda leaf: leaf[: filled.filled], filled.states))
    counts = {row: kept.count(row) for row in sorted(set(kept))}
    half = 2 * ROLLOUTS
    assert counts == {(0, 0): 4 * ROLLOUTS, (1, 1): half, (1, 2): half, (2, 1): half, (2, 2): half}


def test_every_so_many_steps_a_state_is_kept():
    fill = jax.jit(lambda key: state_buffer.fill(Bits(), Stubborn(), POLICIES, 1, 3, key, every=2))
    found = fill(jax.random.key(0))
    assert found.filled == 8
    np.testing.assert_array_equal(np.sort(found.states.clock), [0] * 4 + [2] * 4)
    assert state_buffer.capacity(2, 1, 3, 2) == 8


def test_games_begin_at_buffered_states_drawn_uniformly(filled):
    env = BufferedStarts(Bits(), filled)
    draws = 3600
    begun = jax.jit(env.init)(jax.random.split(jax.random.key(1), draws))
    buffered = rows(jax.tree.map(lambda leaf: leaf[: filled.filled], filled.states))
    drawn = rows(begun)
    assert set(drawn) == set(buffered)
    for row in set(buffered):
        assert drawn.count(row) == pytest.approx(draws * buffered.count(row) / len(buffered), abs=110)
    assert not np.asarray(env.is_over(begun)).any()
    assert set(zip(begun.bit.tolist(), begun.clock.tolist(), strict=True)) == {(b, c) for b in (0, 1) for c in range(3)}


def test_an_empty_buffer_leaves_games_as_they_are_dealt():
    env = Bits()
    wrapped = BufferedStarts(env, state_buffer.empty(env, 7))
    begun = jax.jit(wrapped.init)(jax.random.split(jax.random.key(2), 40))
    assert not np.asarray(begun.clock).any()
    assert set(begun.bit.tolist()) == {0, 1}


def test_one_game_and_many_begin_alike_and_new_games_come_from_the_buffer(filled):
    env = BufferedStarts(Bits(), filled)
    keys = jax.random.split(jax.random.key(4), 8)
    init = jax.jit(env.init)
    begun, alone = jax.device_get((init(keys), init(keys[5])))
    jax.tree.map(lambda one, many: np.testing.assert_array_equal(one, many[5]), alone, begun)
    resetting = AutoReset(env, 2)

    @jax.jit
    def play(state, keys):
        return resetting.step(state, jnp.where(env.legal_mask(state)[..., 0], 0, 1), keys)

    after, paid = jax.device_get(play(begun, jax.random.split(jax.random.key(5), 8)))
    assert not np.asarray(paid.info["illegal"]).any()
    np.testing.assert_array_equal(paid.done, begun.clock == 2)
    np.testing.assert_array_equal(after.clock[~paid.done], begun.clock[~paid.done] + 1)
    fresh = jax.device_get(init(jax.random.split(jax.random.key(5), 8)))
    np.testing.assert_array_equal(after.clock[paid.done], fresh.clock[paid.done])
    assert (env.num_players, env.num_actions) == (2, 3)
    assert env.image_shape == (1, 1, 10)


def test_games_that_begin_at_buffered_states_have_all_of_their_time_where_games_restart(filled):
    class Timed(Bits):
        def restarted(self, state):
            return state._replace(clock=jnp.zeros_like(state.clock))

    begun = jax.jit(BufferedStarts(Timed(), filled).init)(jax.random.split(jax.random.key(1), 40))
    assert not begun.clock.any()
    assert {int(said) for said in begun.said} == {0, 1, 2}
