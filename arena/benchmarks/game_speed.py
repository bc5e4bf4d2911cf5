"""`cwm benchmark games`: random games a second of every registered game, on its own playout where it has one."""

import random
import time
from collections.abc import Iterator

from arena.benchmarks.measurement import Measurement
from games import registry
from games.api import PlaysOut
from search.evaluators import random_playout

SECONDS = 1.0


def run() -> Iterator[Measurement]:
    """Yields random games a second, one process."""
    for game_id in registry.ids():
        game = registry.make(game_id)
        rng = random.Random(0)
        state = game.initial_state()
        played = 0
        begin = time.perf_counter()
        while time.perf_counter() - begin < SECONDS:
            if isinstance(game, PlaysOut):
                game.playout(state, rng, 10_000)
            else:
                random_playout(game, state, rng, 10_000)
            played += 1
        yield Measurement(f"games/{game_id}/playout", played / (time.perf_counter() - begin), "games/s")
