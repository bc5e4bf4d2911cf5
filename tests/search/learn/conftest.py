"""Small games to learn."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import pytest

from games.batched.api import Outcome, Transition, along, lanes_first, lanes_last
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig
from search.learn.ppo.config import PpoConfig

SYMBOLS = 3


class Told(NamedTuple):
    """A symbol that was shown at the first step, and the steps since; lanes last."""

    symbol: jax.Array
    clock: jax.Array


class Recall:
    """Two players say again and again, for 2 to 4 steps, a symbol that the first step alone showed.

    A step pays 1 for each player who says it, and a shaping reward of 0.5 to who says anything but the symbol before
    it. After symbol 2, action 0 is not legal.
    """

    num_players = 2
    num_actions = SYMBOLS
    image_shape = (1, 1, SYMBOLS + 2)

    def init(self, key):
        draw = jax.vmap(self._drawn) if key.ndim else self._drawn
        symbol = draw(key)
        return Told(symbol, jnp.zeros_like(symbol))

    def _drawn(self, key):
        return jax.random.randint(key, (), 0, SYMBOLS)

    def step(self, state, actions, keys=None):
        lanes = state.clock.ndim > 0
        said = lanes_last(actions, lanes)
        right = (said == state.symbol[None]).astype(jnp.float32)
        following = Told(state.symbol, jnp.minimum(state.clock + 1, 2 + state.symbol))
        paid = jnp.broadcast_to(right.sum(axis=0)[None], (2, *state.clock.shape))
        shaping = 0.5 * (said != (state.symbol[None] + 2) % SYMBOLS)
        info = {"illegal": lanes_first(said < 0, lanes), "shaping": lanes_first(shaping, lanes)}
        return following, Transition(lanes_first(paid, lanes), self.is_over(following), info)

    def legal_mask(self, state):
        actions = along(jnp.arange(SYMBOLS), state.clock)
        legal = (state.symbol[None] != 2) | (actions != 0)
        return lanes_first(jnp.broadcast_to(legal[None], (2, *legal.shape)), state.clock.ndim > 0)

    def sample(self, state, uniform):
        return lanes_first(jnp.ones((2, *state.clock.shape), jnp.int32), state.clock.ndim > 0)

    def observe(self, state):
        first = (state.clock == 0)[..., None]
        shown = jax.nn.one_hot(state.symbol, SYMBOLS) * first
        seats = jnp.broadcast_to(jnp.eye(2), (*shown.shape[:-1], 2, 2))
        both = jnp.broadcast_to(shown[..., None, :], (*shown.shape[:-1], 2, SYMBOLS))
        return jnp.concatenate([both, seats], axis=-1)[..., None, None, :]

    def is_over(self, state):
        return state.clock >= 2 + state.symbol

    def outcome(self, state):
        return Outcome(state.symbol * 1.0, state.clock, {})


@pytest.fixture(scope="session")
def recall():
    """A game of 2 to 4 steps that needs a memory."""
    return Recall()


@pytest.fixture(scope="session")
def small_network():
    """Returns a small network of a core, its head not zero at first, for three actions."""

    def build(core="gru", **changes):
        settings = {"encoder": "mlp", "core": core, "hidden": 8, "filters": 8, "layers": 1, "heads": 2, "window": 3}
        return ActorCritic(NetworkConfig(**settings | {"head_scale": 1.0} | changes), SYMBOLS)

    return build


@pytest.fixture(scope="session")
def small_config():
    """Returns settings of eight games, five steps, ten updates."""

    def build(**changes):
        settings = {"total_steps": 400, "environments": 8, "steps": 5, "epochs": 2, "minibatches": 2}
        return PpoConfig(**settings | changes)

    return build
