"""Steps a second of a batched game that was written by hand, played as a twin is: for `cwm benchmark twin`."""

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from games.api import DEFAULT_VIEW
from games.batched import registry
from games.batched.wrappers import AutoReset


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

    def once(carry: tuple[Any, jax.Array], key: jax.Array) -> tuple[tuple[Any, jax.Array], None]:
        state, told = carry
        choose, chance = jax.random.split(key)
        seen = env.observe(state).sum() + env.legal_mask(state).sum()
        actions = env.sample(state, jax.random.uniform(choose, (lanes,)))
        state, paid = games.step(state, actions, jax.random.split(chance, lanes))
        return (state, told + seen + paid.reward.sum() + paid.done.sum()), None

    loop = jax.jit(lambda carry, key: jax.lax.scan(once, carry, jax.random.split(key, steps))[0])
    state = jax.jit(games.init)(jax.random.split(jax.random.key(0), lanes))
    carry = loop((state, jnp.zeros(())), jax.random.key(1))
    carry[1].block_until_ready()

    def rate() -> float:
        began = time.perf_counter()
        loop(carry, jax.random.key(2))[1].block_until_ready()
        return lanes * steps / (time.perf_counter() - began)

    return rate
