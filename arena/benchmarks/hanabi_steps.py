"""`cwm benchmark hanabi-steps`: steps a second of batched Hanabi, beside JaxMARL's where it is installed.

A step is one call for all players of all lanes: uniformly random legal actions, rules, masks, observations, new games
where games ended, all folded into a carried checksum, so that nothing is optimised away.
"""

import importlib
import importlib.util
from collections.abc import Callable, Iterator
from typing import Any, Final

import jax
import jax.numpy as jnp

from arena.benchmarks.batched_steps import loop_rate
from arena.benchmarks.measurement import Measurement, interleaved
from arena.benchmarks.yokai_speed import program
from games.batched.api import Array
from games.batched.hanabi.environment import make
from games.extras import install

PLAYERS: Final = (2, 5)
LANES: Final = 2_048
OUR_STEPS: Final = 64
THEIR_STEPS: Final = 4
PAIRS: Final = 3


def run(lanes: int | None = None) -> Iterator[Measurement]:
    """Yields steps a second for two and five players, on the device that JAX chooses.

    Args:
        lanes: games at once; None: 2,048.
    """
    device, count = jax.default_backend(), lanes or LANES
    for players in PLAYERS:
        loop = program(make(f"hanabi-{players}p", "v0"), count, OUR_STEPS, device)
        name, note = f"hanabi-steps/{players}p/{device}/{count}", f"{OUR_STEPS} steps a call"
        loop.rate()
        if importlib.util.find_spec("jaxmarl") is None:
            note += f"; JaxMARL, to compare with, is not installed: {install('jaxmarl')}"
            yield Measurement(name, loop.rate(), "steps/s", note=note)
        else:
            theirs = _jaxmarl(players, count)
            yield interleaved(name, "steps/s", loop.rate, theirs, PAIRS, note + "; baseline: JaxMARL")


def _jaxmarl(players: int, lanes: int) -> Callable[[], float]:
    """Returns what plays JaxMARL's game and returns its steps a second; it is compiled by then."""
    env: Any = importlib.import_module("jaxmarl").make("hanabi", num_agents=players)

    def shown(seen: dict[str, Array], state: Any) -> tuple[Array, Array]:
        legal = jax.vmap(env.get_legal_moves)(state)
        return jnp.stack([seen[agent] for agent in env.agents]), jnp.stack([legal[agent] for agent in env.agents])

    def step(carry: Any, key: Array) -> tuple[Any, Array]:
        state, seen, mask = carry
        draw, following = jax.random.split(key)
        chosen = jax.random.categorical(draw, jnp.log(mask))
        actions = {agent: chosen[number] for number, agent in enumerate(env.agents)}
        found, state, paid, _, _ = jax.vmap(env.step)(jax.random.split(following, lanes), state, actions)
        return (state, *shown(found, state)), seen.sum() + mask.sum() + paid["__all__"].sum()

    def begin(key: Array) -> Any:
        seen, state = jax.vmap(env.reset)(jax.random.split(key, lanes))
        return state, *shown(seen, state)

    return loop_rate(begin, step, lanes, THEIR_STEPS)
