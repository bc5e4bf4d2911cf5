"""`cwm benchmark posg-steps`: steps a second of batched games of simultaneous moves.

A step is one call for all agents of all lanes: uniformly random legal actions, rules, masks, observations, new games
where games ended, all folded into a carried checksum, so that nothing is optimised away.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import jax

from arena.benchmarks.measurement import Measurement
from arena.benchmarks.yokai_speed import program
from games.batched import registry
from games.batched.registry import SIMULTANEOUS

LANES: Final = 256
STEPS: Final = 1_000
"""Of a call."""
TIMES: Final = 5


def run(lanes: int | None = None, games: Sequence[str] = SIMULTANEOUS, steps: int = STEPS) -> Iterator[Measurement]:
    """Yields steps a second of every game, the best of five calls, on the device that JAX chooses.

    Args:
        lanes: games at once; None: 256.
        games: their ids.
        steps: of a call.
    """
    device, count = jax.default_backend(), lanes or LANES
    for game_id in games:
        loop = program(registry.make(game_id).env("default"), count, steps, device)
        best = max(loop.rate() for _ in range(TIMES))
        note = f"{steps} steps a call, best of {TIMES}"
        yield Measurement(f"posg-steps/{game_id}/{device}/{count}", best, "steps/s", note=note)
