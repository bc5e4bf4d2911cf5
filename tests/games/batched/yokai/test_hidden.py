from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.batched.api import lane
from games.batched.yokai.environment import make
from games.batched.yokai.hidden import YokaiHidden
from search.learn.beliefs.beliefs import UniformBelief
from tests.oracles.exact_beliefs import UNKNOWN, add, no_evidence, posterior

LANES, STEPS = 8, 14


@pytest.fixture(scope="module")
def played():
    """The eight-card game, and random games after some steps, those that are over included."""
    env = make("yokai-8c-2p", memory=True)
    state = jax.jit(env.init)(jax.random.split(jax.random.key(0), LANES))

    @jax.jit
    def move(state, key):
        return env.step(state, env.sample(state, jax.random.uniform(key, (LANES,))))[0]

    states = [state]
    for number in range(STEPS):
        states.append(move(states[-1], jax.random.key(number)))
    return env, states


def test_known_colours_are_those_that_the_player_observed(played):
    env, states = played
    hidden = YokaiHidden(env.sizes)
    assert hidden.counts == (4, 4)
    evidence = no_evidence(env.sizes)
    told, show = jax.jit(add, static_argnums=3), jax.jit(hidden.known)
    for before, after in pairwise([jax.tree.map(np.asarray, state) for state in states]):
        evidence = told(evidence, lane(before, 3), lane(after, 3), 1)
        known = np.asarray(show(after))
        assert known.shape == (LANES, 2, 8)
        np.testing.assert_array_equal(known[3, 1], evidence.known)
        np.testing.assert_array_equal(show(lane(after, 3)), known[3])
    assert (known != UNKNOWN).any()


def test_other_colours_change_what_is_hidden_and_nothing_that_a_player_may_see(played):
    env, states = played
    hidden, state = YokaiHidden(env.sizes), states[9]
    draw = jax.jit(UniformBelief(hidden.counts).sample)
    imagine = jax.jit(hidden.with_hidden)
    observe, mask = jax.jit(env.observe), jax.jit(env.legal_mask)
    for player in (0, 1):
        known = hidden.known(state)[:, player]
        imagined = imagine(state, draw((), None, known, jax.random.key(player)))
        np.testing.assert_array_equal(observe(imagined)[:, player], observe(state)[:, player])
        np.testing.assert_array_equal(mask(imagined), mask(state))
        np.testing.assert_array_equal(jax.jit(env.with_legal)(imagined).legal, imagined.legal)
        assert not np.array_equal(hidden.truth(imagined), hidden.truth(state))
        assert (np.sort(np.asarray(hidden.truth(imagined)), axis=1) == [0] * 4 + [1] * 4).all()
    np.testing.assert_array_equal(hidden.truth(state), jnp.moveaxis(state.colours, -1, 0))


def test_truth_put_back_is_the_game_itself(played):
    env, states = played
    hidden = YokaiHidden(env.sizes)
    again = jax.jit(hidden.with_hidden)(states[5], hidden.truth(states[5]))
    jax.tree.map(np.testing.assert_array_equal, again, states[5])


def test_uniform_belief_is_the_exact_posterior_of_placements_that_say_nothing(played):
    env, states = played
    hidden = YokaiHidden(env.sizes)
    game = lane(states[9], 2)
    evidence = no_evidence(env.sizes)._replace(known=hidden.known(game)[0])
    exact = np.asarray(jax.jit(posterior)(evidence))
    draws = 3000
    known = jnp.broadcast_to(evidence.known, (draws, 8))
    found = np.asarray(jax.jit(UniformBelief(hidden.counts).sample)((), None, known, jax.random.key(1)))
    _, counts = np.unique(found, axis=0, return_counts=True)
    assert len(counts) == int((exact > 0).sum())
    assert counts.min() / draws > 0.6 * float(exact.max())
