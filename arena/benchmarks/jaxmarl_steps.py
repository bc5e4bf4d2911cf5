"""`cwm benchmark jaxmarl-steps`: steps a second of OvercookedV2 as a batched game, beside JaxMARL's own loop.

A step is one call for both players of all lanes: uniformly random actions, rules, observations as numbers that a
network reads, new games where games ended, all folded into a carried checksum, so that nothing is optimised away.
"""

import importlib
import importlib.util
from collections.abc import Callable, Iterator
from typing import Any, Final

import jax
import jax.numpy as jnp

from arena.benchmarks.batched_steps import Step, loop_rate
from arena.benchmarks.measurement import Measurement, interleaved
from games.api import GameError
from games.batched import registry
from games.batched.api import Array
from games.batched.wrappers import AutoReset
from games.extras import install
from games.posg.overcooked_v2 import layouts

GAMES: Final = ("overcooked-v2-cramped-room", "overcooked-v2-grounded-coord-simple")
LANES: Final = 256
STEPS: Final = 400
"""Of a call, in which every game ends once."""
PAIRS: Final = 3


def run(lanes: int | None = None) -> Iterator[Measurement]:
    """Yields steps a second of a small and of a larger layout, on the device that JAX chooses.

    Args:
        lanes: games at once; None: 256, as in the paper.

    Raises:
        GameError: JaxMARL is not installed.
    """
    if importlib.util.find_spec("jaxmarl") is None:
        raise GameError(f"Nothing can be measured without JaxMARL, which is not installed; run: {install('jaxmarl')}.")
    device, count = jax.default_backend(), lanes or LANES
    for game_id in GAMES:
        ours, theirs = rates(game_id, count)
        name = f"jaxmarl-steps/{game_id.removeprefix('overcooked-v2-')}/{device}/{count}"
        note = f"{count} games, {STEPS} steps a call; baseline: JaxMARL's own step"
        yield interleaved(name, "steps/s", ours, theirs, PAIRS, note)


def rates(game_id: str, lanes: int, steps: int = STEPS) -> tuple[Callable[[], float], Callable[[], float]]:
    """Returns what plays a layout here and in JaxMARL, both compiled, and returns steps a second, summed over lanes."""
    return loop_rate(*_ours(game_id, lanes), lanes, steps), loop_rate(*_theirs(game_id, lanes), lanes, steps)


def _ours(game_id: str, lanes: int) -> tuple[Callable[[Array], Any], Step]:
    env = registry.make(game_id).env("default")
    resetting = AutoReset(env) if jax.default_backend() == "cpu" else AutoReset(env, dealt_at_once=None)

    def step(state: Any, key: Array) -> tuple[Any, Array]:
        draw, following = jax.random.split(key)
        actions = jax.random.randint(draw, (lanes, env.num_players), 0, env.num_actions)
        state, paid = resetting.step(state, actions, jax.random.split(following, lanes))
        return state, env.observe(state).sum() + paid.reward.sum() + paid.info["shaping"].sum()

    return lambda key: env.init(jax.random.split(key, lanes)), step


def _theirs(game_id: str, lanes: int) -> tuple[Callable[[Array], Any], Step]:
    layout, chosen = layouts.parse(game_id)
    jaxmarl: Any = importlib.import_module("jaxmarl")
    env = jaxmarl.make("overcooked_v2", layout=layout.name, **layouts.settings(chosen))

    def step(state: Any, key: Array) -> tuple[Any, Array]:
        draw, following = jax.random.split(key)
        actions = jax.random.randint(draw, (lanes, env.num_agents), 0, env.num_actions)
        by_agent = {agent: actions[:, seat] for seat, agent in enumerate(env.agents)}
        seen, state, paid, _, infos = jax.vmap(env.step)(jax.random.split(following, lanes), state, by_agent)
        told = jnp.stack([seen[agent] for agent in env.agents]).astype(jnp.float32).sum()
        shaping = sum(values.sum() for values in infos["shaped_reward"].values())
        return state, told + sum(values.sum() for values in paid.values()) + shaping

    return lambda key: jax.vmap(env.reset)(jax.random.split(key, lanes))[1], step
