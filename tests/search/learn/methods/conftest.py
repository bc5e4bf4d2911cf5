"""A game of three steps whose hidden bit one of two players sees, small enough to work out by hand."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import pytest

from games.batched.api import Outcome, Transition, along, lanes_first, lanes_last
from search.learn.api import Outputs
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig
from search.learn.play.seats import of_decider

COUNTS = (1, 1)


class Secret(NamedTuple):
    """The bit, the steps so far, what was said last, what was paid so far; lanes last."""

    bit: jax.Array
    clock: jax.Array
    said: jax.Array
    total: jax.Array


class Bits:
    """Players take turns for three steps, player 0 first; who is to move says 0 or 1 (actions 1 and 2).

    Step t pays t + 1 if the bit was said. One player alone sees the bit; both hear what was said last.
    """

    num_players = 2
    num_actions = 3
    image_shape = (1, 1, 10)
    steps = 3

    def __init__(self, seer=1):
        self.seer = seer

    def init(self, key):
        draw = jax.vmap(self._drawn) if key.ndim else self._drawn
        bit = draw(key)
        nothing = jnp.zeros_like(bit)
        return Secret(bit, nothing, nothing, nothing * 1.0)

    def _drawn(self, key):
        return jax.random.randint(key, (), 0, 2)

    def turn(self, state):
        return jnp.where(self.is_over(state), -1, state.clock % 2)

    def pay(self, state, said):
        return (state.clock + 1.0) * (said == state.bit + 1)

    def step(self, state, actions, keys=None):
        lanes = state.clock.ndim > 0
        actions = lanes_last(actions, lanes)
        mine = self.turn(state)[None] == along(jnp.arange(2), state.clock)
        said = jnp.where(mine, actions, 0).sum(axis=0)
        over = self.is_over(state)
        paid = jnp.where(over, 0.0, self.pay(state, said))
        following = Secret(state.bit, jnp.minimum(state.clock + 1, self.steps), said, state.total + paid)
        nothing = jnp.zeros((*state.clock.shape, 2))
        info = {"illegal": lanes_first(jnp.where(mine, actions < 1, actions != 0), lanes), "shaping": nothing}
        reward = jnp.broadcast_to(paid[..., None], nothing.shape)
        return following, Transition(reward, self.is_over(following), info)

    def legal_mask(self, state):
        mine = self.turn(state)[..., None] == jnp.arange(2)
        return mine[..., None] ^ (jnp.arange(3) == 0)

    def sample(self, state, uniform):
        said = 1 + (uniform * 2).astype(jnp.int32)
        return jnp.where(self.turn(state)[..., None] == jnp.arange(2), said[..., None], 0)

    def observe(self, state):
        lead = state.clock.shape
        bit = jax.nn.one_hot(state.bit, 2)[..., None, :] * (jnp.arange(2) == self.seer)[:, None]
        clock = jnp.broadcast_to(jax.nn.one_hot(state.clock, 3)[..., None, :], (*lead, 2, 3))
        said = jnp.broadcast_to(jax.nn.one_hot(state.said, 3)[..., None, :], (*lead, 2, 3))
        seat = jnp.broadcast_to(jnp.eye(2), (*lead, 2, 2))
        return jnp.concatenate([bit, clock, said, seat], axis=-1)[..., None, None, :]

    def is_over(self, state):
        return state.clock >= self.steps

    def outcome(self, state):
        return Outcome(state.total, state.clock, {})


class BitSlots:
    """The bit as two slots, of which one holds kind 0 and one kind 1; slot 0 is the bit."""

    counts = COUNTS

    def __init__(self, seers=(1,)):
        self.seers = seers

    def truth(self, games):
        return jnp.stack([games.bit, 1 - games.bit], axis=-1)

    def known(self, games):
        sees = jnp.isin(jnp.arange(2), jnp.asarray(self.seers, jnp.int32))
        return jnp.where(sees[:, None], self.truth(games)[:, None], -1)

    def with_hidden(self, games, kinds):
        return games._replace(bit=kinds[:, 0])


class Scripted:
    """A policy without parameters: who sees the bit says it, who does not says 0; the critic says 10 + clock."""

    num_actions = 3
    config = NetworkConfig(encoder="mlp", public_private=True, private_channels=2)

    def initial_memory(self, lanes):
        return ()

    def init(self, key, observation):
        return {}

    def apply(self, params, memory, observation, starts, deciders=None):
        row = observation[..., 0, 0, :]
        says = jnp.where(row[..., 1] == 1, 2, 1)
        logits = 1e4 * jax.nn.one_hot(says, 3)
        logits = logits if deciders is None else of_decider(logits, deciders)
        return memory, Outputs(logits, 10 + row[..., 2:5] @ jnp.arange(3.0), row)


@pytest.fixture(scope="session")
def bits():
    """The game in which player 1 sees the bit."""
    return Bits()


@pytest.fixture(scope="session")
def public_private():
    """Returns a small network whose memory reads public observations alone."""

    def build(**changes):
        settings = {"encoder": "mlp", "core": "gru", "hidden": 16, "filters": 16, "layers": 1}
        config = NetworkConfig(**settings | {"public_private": True, "private_channels": 2} | changes)
        return ActorCritic(config, 3)

    return build
