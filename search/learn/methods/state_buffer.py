"""State-augmented self-play: episodes that begin where other policies have been (OvercookedV2 paper, appendix A.2).

All pairs of policies play; every tenth state of their games is kept; then each policy goes on with self-play whose
games begin at states drawn uniformly from those. The paper repeats this ten times, each time with a new buffer.
"""

from typing import Any, Final, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from games.batched.api import Array, BatchedEnv, Restarts, chance_keys
from games.batched.wrappers import Wrapper
from search.learn import masked_categorical
from search.learn.api import Memory, Network, Params
from search.learn.play import several_policies
from search.learn.ppo import rollout

S = TypeVar("S")

EVERY: Final = 10
"""Steps between two states that are kept."""


class StateBuffer(NamedTuple):
    """States to begin at; its arrays keep their shapes whatever it holds.

    Attributes:
        states: games, lanes last, room for C of them.
        filled: int32 [], the first so many may be drawn.
    """

    states: Any
    filled: Array


def capacity(policies: int, rollouts: int, steps: int, every: int = EVERY) -> int:
    """Returns C, how many states `fill` has room for."""
    return policies**2 * rollouts * -(-steps // every)


def empty(env: BatchedEnv[Any], room: int) -> StateBuffer:
    """Returns a buffer with room for C states that holds none."""
    shapes = jax.eval_shape(lambda: env.init(jax.random.split(jax.random.key(0), room)))
    states = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
    return StateBuffer(states, jnp.zeros((), jnp.int32))


def fill(
    env: BatchedEnv[Any],
    network: Network,
    policies: Params,
    rollouts: int,
    steps: int,
    key: Array,
    every: int = EVERY,
) -> StateBuffer:
    """Lets all ordered pairs of policies play and keeps every so many-th state, the first of each game included.

    In games of more than two players, the pair's policies take turns around the table.

    Args:
        env: the game.
        network: of all policies.
        policies: leaves [M, ...].
        rollouts: R, games of each pair.
        steps: of each game at most.
        key: typed key [].
        every: steps between two states that are kept.

    Returns:
        A buffer with room for `capacity` states; of games that had ended it holds none.
    """
    many = several_policies.count(policies)
    pairs = np.stack(np.divmod(np.repeat(np.arange(many**2), rollouts), many), axis=1)
    games = len(pairs)
    which = jnp.asarray(pairs[:, np.arange(env.num_players) % 2].reshape(-1), jnp.int32)
    starts = jnp.zeros(which.shape, bool)

    def step(now: tuple[Any, Memory], key: Array) -> tuple[tuple[Any, Memory], None]:
        state, memory = now
        memory, logits = several_policies.act(network, policies, which, memory, rollout.observe(env, state), starts)
        legal = rollout.by_lane(env.legal_mask(state))
        actions = masked_categorical.sample(key, logits, legal)
        chance = jax.random.split(chance_keys(key), games)
        return (env.step(state, rollout.by_game(actions, env.num_players), chance)[0], memory), None

    def keep(now: tuple[Any, Memory], key: Array) -> tuple[tuple[Any, Memory], tuple[Any, Array]]:
        following, _ = jax.lax.scan(step, now, jax.random.split(key, every))
        return following, (now[0], ~env.is_over(now[0]))

    deal, play = jax.random.split(key)
    beginning = env.init(jax.random.split(deal, games)), network.initial_memory(len(which))
    _, (kept, going_on) = jax.lax.scan(keep, beginning, jax.random.split(play, -(-steps // every)))
    in_front = jnp.argsort(~going_on.reshape(-1), stable=True)

    def pack(leaf: Array) -> Array:
        lanes_last = jnp.moveaxis(leaf, 0, -2)
        return lanes_last.reshape(*lanes_last.shape[:-2], -1)[..., in_front]

    return StateBuffer(jax.tree.map(pack, kept), going_on.sum(dtype=jnp.int32))


class BufferedStarts(Wrapper[S]):
    """An environment whose games begin at states drawn uniformly from a buffer; an empty one leaves them as dealt.

    Players begin there with an empty memory, and where the environment `Restarts` games, with all of their time.
    """

    def __init__(self, env: BatchedEnv[S], buffer: StateBuffer) -> None:
        super().__init__(env)
        self.buffer = buffer

    def init(self, key: Array) -> S:
        """Returns a game that begins at a buffered state, or B games; each depends on its own key alone."""
        if key.ndim:
            pairs = jax.vmap(jax.random.split)(key)
            deal, which = pairs[:, 0], jax.vmap(self._drawn)(pairs[:, 1])
        else:
            deal, draw = jax.random.split(key)
            which = self._drawn(draw)
        states, filled = self.buffer
        drawn: S = jax.tree.map(lambda kept: jnp.asarray(kept)[..., which], states)
        if isinstance(self.env, Restarts):
            drawn = self.env.restarted(drawn)
        begun: S = jax.tree.map(lambda kept, dealt: jnp.where(filled > 0, kept, dealt), drawn, self.env.init(deal))
        return begun

    def _drawn(self, key: Array) -> Array:
        return jax.random.randint(key, (), 0, jnp.maximum(self.buffer.filled, 1))
