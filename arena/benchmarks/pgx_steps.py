"""Steps a second of pgx's own environment of a game, played as a twin is: for `cwm benchmark twin --beside pgx`.

pgx (Koyama et al., 2023) is written by hand for speed. Its games run in this process; it is installed apart:
no extra of ours asks for it.
"""

import importlib
import importlib.util
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import jax
import jax.numpy as jnp

from arena.usage import UsageError
from cwm.twins.play import uniform_actions

NAMES: Final[Mapping[str, str]] = {
    "tic_tac_toe": "tic_tac_toe",
    "connect_four": "connect_four",
    "kuhn_poker": "kuhn_poker",
    "leduc_poker": "leduc_holdem",
    "backgammon": "backgammon",
}
"""Our games that pgx has, with its names."""


def rate_of(game: str, lanes: int, steps: int) -> Callable[[], float]:
    """Returns what plays pgx's game at random and returns steps a second, summed over lanes; it is compiled by then.

    A step is a uniformly random legal action, chance, the mask, the observation of who is to move, and a new game where
    one ended, all summed.

    Args:
        game: ours.
        lanes: games at once.
        steps: of one call.

    Raises:
        UsageError: pgx does not have the game, or is not installed.
    """
    if game not in NAMES:
        raise UsageError(f"pgx has no {game} with the same rules; beside it are timed: {', '.join(NAMES)}.")
    if importlib.util.find_spec("pgx") is None:
        raise UsageError("Nothing can be timed beside pgx, which is not installed; run: pip install pgx.")
    env: Any = importlib.import_module("pgx").make(NAMES[game])
    wrappers: Any = importlib.import_module("pgx.experimental.wrappers")
    step = jax.vmap(wrappers.auto_reset(env.step, env.init))

    def once(carry: tuple[Any, jax.Array], key: jax.Array) -> tuple[tuple[Any, jax.Array], None]:
        state, told = carry
        choose, chance = jax.random.split(key)
        actions = uniform_actions(state.legal_action_mask, choose)
        seen = state.observation.astype(jnp.float32).sum() + state.legal_action_mask.sum()
        state = step(state, actions, jax.random.split(chance, lanes))
        return (state, told + seen + state.rewards.sum() + state.terminated.sum()), None

    loop = jax.jit(lambda carry, key: jax.lax.scan(once, carry, jax.random.split(key, steps))[0])
    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(0), lanes))
    carry = loop((state, jnp.zeros(())), jax.random.key(1))
    carry[1].block_until_ready()

    def rate() -> float:
        began = time.perf_counter()
        loop(carry, jax.random.key(2))[1].block_until_ready()
        return lanes * steps / (time.perf_counter() - began)

    return rate
