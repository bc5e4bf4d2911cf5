"""Steps a second of pgx's own environment of a game, played as a twin is: for `cwm benchmark twin --beside pgx`.

pgx (Koyama et al., 2023) is written by hand for speed. Its games run in this process; it is installed apart, as no
extra of ours asks for it.
"""

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from typing import Any, Final

import jax
import jax.numpy as jnp

from arena.benchmarks.batched_steps import loop_rate
from arena.usage import UsageError
from cwm.twins.play import uniform_actions
from games.batched.api import Array

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
    stepped = jax.vmap(wrappers.auto_reset(env.step, env.init))

    def step(state: Any, key: Array) -> tuple[Any, Array]:
        choose, chance = jax.random.split(key)
        actions = uniform_actions(state.legal_action_mask, choose)
        seen = state.observation.astype(jnp.float32).sum() + state.legal_action_mask.sum()
        state = stepped(state, actions, jax.random.split(chance, lanes))
        return state, seen + state.rewards.sum() + state.terminated.sum()

    return loop_rate(lambda key: jax.vmap(env.init)(jax.random.split(key, lanes)), step, lanes, steps)
