"""Steps a second of games that are played by the thousand in one compiled loop, whoever wrote them.

A batched game that was written by hand is played as a twin is: for `cwm benchmark twin`.
"""

import time
from collections.abc import Callable
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp

from games.api import DEFAULT_VIEW
from games.batched import registry
from games.batched.api import Array
from games.batched.wrappers import AutoReset

Step: TypeAlias = Callable[[Any, Array], tuple[Any, Array]]
"""(state, key) -> (state, what is folded into the checksum)."""


def loop_rate(begin: Callable[[Array], Any], step: Step, lanes: int, steps: int) -> Callable[[], float]:
    """Returns what plays one compiled loop and returns steps a second, over all lanes; it is compiled by then.

    All that the steps show is summed in a checksum that is carried, so that nothing is optimised away.

    Args:
        begin: key -> the state of all lanes.
        step: of all lanes.
        lanes: games at once.
        steps: of one call.
    """

    def once(carry: tuple[Any, Array], key: Array) -> tuple[tuple[Any, Array], None]:
        state, told = step(carry[0], key)
        return (state, carry[1] + told), None

    loop = jax.jit(lambda carry, key: jax.lax.scan(once, carry, jax.random.split(key, steps))[0])
    carry = loop((jax.jit(begin)(jax.random.key(0)), jnp.zeros(())), jax.random.key(1))
    carry[1].block_until_ready()

    def rate() -> float:
        began = time.perf_counter()
        loop(carry, jax.random.key(2))[1].block_until_ready()
        return lanes * steps / (time.perf_counter() - began)

    return rate


def rate_of(game: str, lanes: int, steps: int) -> Callable[[], float]:
    """Returns what plays the batched game at random and returns steps a second, over all lanes; it is compiled by then.

    A step is a uniformly random legal action, chance, the masks, what all players see, and a new game where one ended,
    all summed.

    Args:
        game: registry id.
        lanes: games at once.
        steps: of one call.

    Raises:
        GameError: it needs an extra that is not installed.
    """
    env = registry.make(game).env(DEFAULT_VIEW)
    games = AutoReset(env)

    def step(state: Any, key: Array) -> tuple[Any, Array]:
        choose, chance = jax.random.split(key)
        seen = env.observe(state).sum() + env.legal_mask(state).sum()
        actions = env.sample(state, jax.random.uniform(choose, (lanes,)))
        state, paid = games.step(state, actions, jax.random.split(chance, lanes))
        return state, seen + paid.reward.sum() + paid.done.sum()

    return loop_rate(lambda key: games.init(jax.random.split(key, lanes)), step, lanes, steps)
