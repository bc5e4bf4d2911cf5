"""`cwm benchmark xp`: whole games a second of the evaluator of trained policies, observations and draws included.

Networks have random parameters: what they say takes as long as what trained ones say. Random players may end a game
early, which saves no time: every game takes as many steps as the longest one.
"""

import time
from collections.abc import Iterator
from typing import Final

import jax
import jax.numpy as jnp

from arena.benchmarks.measurement import Measurement
from arena.checkpoints.on_game import LearnedPolicy, environment
from arena.policy_play.cross_play import GAMES, PolicyTable
from arena.training.recipes import recipe
from games.batched.registry import MEMORY
from search.learn.networks.actor_critic import ActorCritic

SETTINGS: Final = (("yokai-8c-2p", "reduced"), ("yokai-9c-2p", "paper"))
"""Games, each with the scale whose network plays it."""
CPU_GAMES: Final = 64
ROUNDS: Final = 3
MATRIX: Final = 12 * 12
"""Seatings of the paper's matrices."""


def run(games: int | None = None) -> Iterator[Measurement]:
    """Yields the rate of each setting, and how long a matrix of 12 × 12 with the paper's 5,000 games a seating takes.

    Args:
        games: at once; None: 64 on a CPU, 5,000 on an accelerator.
    """
    device = jax.default_backend()
    count = games or (CPU_GAMES if device == "cpu" else GAMES)
    for game, scale in SETTINGS:
        rate, compiled = measured(game, scale, count)
        name = f"xp/{game.removeprefix('yokai-')}/{scale}/{device}/{count}"
        yield Measurement(f"{name}/games", rate, "games/s", note=f"{count} games at once, network of scale {scale}")
        yield Measurement(
            f"{name}/matrix", MATRIX * GAMES / rate / 60, "minutes", note="12 × 12 seatings, at that rate"
        )
        yield Measurement(f"{name}/first", compiled, "s", note="first seating, compilation included")


def measured(game: str, scale: str, games: int) -> tuple[float, float]:
    """Returns games a second, the best of some rounds, and the seconds of the first round, with its compilation."""
    table = PolicyTable([untrained(game, scale, seed) for seed in range(2)])
    evaluator = table.evaluator(greedy=False)
    deals = table.deals(games, 0)
    seconds = []
    for _ in range(1 + ROUNDS):
        begin = time.perf_counter()
        table.play(evaluator, ("0", "1"), deals, 0)  # returns once it has seen that all games are over
        seconds.append(time.perf_counter() - begin)
    return games / min(seconds[1:]), seconds[0]


def untrained(game: str, scale: str, seed: int) -> LearnedPolicy:
    """Returns a policy with random parameters, its name the seed."""
    shape = recipe(game, "sp", scale).network
    env = environment(game, MEMORY, shape)
    network = ActorCritic(shape, env.num_actions)
    params = jax.jit(network.init)(jax.random.key(seed), jnp.zeros((1, 1, *env.image_shape)))
    return LearnedPolicy(str(seed), game, MEMORY, {"method": "sp"}, network, params)
