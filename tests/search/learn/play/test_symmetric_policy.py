"""A policy that respects the symmetries plays the same through other-play as without it."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.batched.other_play import OtherPlay
from games.batched.yokai.environment import make
from games.yokai.symmetry import Symmetries
from search.learn import masked_categorical
from search.learn.api import Outputs
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig
from search.learn.ppo import rollout

GAMES = 6
KEYS = jax.random.split(jax.random.key(5), GAMES)


class Symmetrised:
    """A network whose logits are those of another one, averaged over all symmetric images of what it sees."""

    def __init__(self, network, group):
        self.num_actions = network.num_actions
        self.initial_memory = network.initial_memory
        self.init = network.init
        self._network, self._group = network, group

    def apply(self, params, memory, observation, starts):
        def seen_through(number):
            shown = self._group.image(number, observation)
            _, outputs = self._network.apply(params, memory, shown, starts)
            every = jnp.arange(self.num_actions)
            return outputs.logits[..., self._group.action(number, every)], outputs.values

        logits, values = jax.lax.map(seen_through, jnp.arange(len(self._group)))
        return memory, Outputs(logits.mean(axis=0), values.mean(axis=0), logits.mean(axis=0))


@pytest.fixture(scope="module")
def game():
    env = make("yokai-8c-2p")
    group = Symmetries(env.sizes.config)
    return env, group, OtherPlay(env, group)


@pytest.fixture(scope="module")
def consulted(game):
    """Returns a function kind -> policies of the game as it is and through other-play, and the players' symmetries."""
    env, group, wrapped = game
    plain = ActorCritic(
        NetworkConfig("mlp", "none", hidden=8, filters=8, layers=1, head_scale=1.0, activation="tanh"), env.num_actions
    )
    state = jax.jit(wrapped.init)(jax.random.split(jax.random.key(0), GAMES))
    step = jax.jit(lambda state, uniform: wrapped.step(state, wrapped.sample(state, uniform), KEYS)[0])
    for number in range(6):
        state = step(state, jax.random.uniform(jax.random.key(number), (GAMES,)) * 0.9)
    params = jax.jit(plain.init)(jax.random.key(7), jnp.zeros((1, 2, *env.image_shape)))
    networks = {"plain": plain, "symmetrised": Symmetrised(plain, group)}

    @cache
    def ask(kind):
        starts = jnp.ones(2 * GAMES, bool)

        @jax.jit
        def both(state):
            own, _ = rollout.consult(networks[kind], params, env, state.game, (), starts)
            shown, _ = rollout.consult(networks[kind], params, wrapped, state, (), starts)
            back = jax.vmap(group.action, (0, None))(state.symmetry.T.reshape(-1), jnp.arange(env.num_actions))
            return own, shown, back

        return jax.tree.map(np.asarray, both(state))

    return ask


def test_logits_of_a_symmetric_policy_transformed_back_are_those_of_the_game_itself(consulted):
    own, shown, back = consulted("symmetrised")
    np.testing.assert_allclose(np.take_along_axis(shown.logits, back, axis=1), own.logits, atol=1e-5)
    np.testing.assert_array_equal(np.take_along_axis(shown.legal, back, axis=1), own.legal)
    np.testing.assert_allclose(shown.value, own.value, atol=1e-5)
    assert np.ptp(np.asarray(own.logits), axis=1).min() > 0.01


def test_symmetric_policy_plays_the_same_move_through_other_play(consulted):
    own, shown, back = consulted("symmetrised")
    log_probabilities = jax.jit(masked_categorical.log_probabilities)
    likely = np.take_along_axis(np.asarray(log_probabilities(shown.logits, shown.legal)), back, axis=1)
    np.testing.assert_allclose(np.exp(likely), np.exp(log_probabilities(own.logits, own.legal)), atol=1e-5)


def test_policy_without_symmetry_plays_otherwise_through_other_play(consulted):
    own, shown, back = consulted("plain")
    found = np.take_along_axis(shown.logits, back, axis=1)
    assert not np.allclose(found, own.logits, atol=1e-2)
