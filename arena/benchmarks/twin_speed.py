"""`cwm benchmark twin`: steps a second of a run's twin, beside those of its model in a worker.

A step of the twin is one action in one of many games: a uniformly random legal action, chance, the mask, the vector of
who is to move, the next game where one ended, all summed, so that nothing is optimised away. The worker plays
decisions of its learner by chance, with vectors of the same schema, and those of the other seats, which count as well.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from arena.benchmarks.measurement import Measurement, interleaved
from arena.machine import accelerated
from cwm.model.bundle import ModelBundle
from cwm.model.environment import EnvironmentConfig, ModelEnvironment
from cwm.observations.vectors import ObservationVectors
from cwm.sandbox.parent.host import Sandbox
from cwm.twins.compiled import CompiledTwin
from cwm.twins.stored import StoredTwin
from games.api import GameError
from games.batched import registry as batched

LANES: Final = 1024
STEPS: Final = 200
PAIRS: Final = 3
WORKER_GAMES: Final = 50
WORKER_S: Final = 2.0


def run(model_folder: Path, bundle: ModelBundle, lanes: int | None = None, pgx: bool = False) -> Iterator[Measurement]:
    """Yields steps a second of a twin, the seconds that compiling it takes, and decisions a second of PPO on it.

    Args:
        model_folder: of the model, which holds the twin.
        bundle: the model.
        lanes: games at once; None: 1,024.
        pgx: whether pgx's own environment of the game is timed, too, in turn with the twin.

    Raises:
        StoredTwinError: there is no twin.
        TwinProblemError: it could not be played.
        UsageError: pgx does not have the game, or is not installed.
    """
    twin = StoredTwin.load(model_folder)
    game, count = str(bundle.info["id"]), lanes or LANES
    rate_of = accelerated.load("arena.benchmarks.pgx_steps").rate_of(game, count, STEPS) if pgx else None
    with CompiledTwin(twin.traced) as compiled:
        _, first_s = compiled.rate(count, STEPS)
        note = f"{STEPS} steps a call; baseline: the model in a worker, {WORKER_GAMES} games, environment alone"
        name = f"twin/{game}/{count}"
        yield interleaved(
            name, "steps/s", lambda: compiled.rate(count, STEPS)[0], lambda: _worker_rate(bundle, twin), PAIRS, note
        )
        yield Measurement(f"twin/{game}/compile", compiled.compile_s, "s", note="init, step and look in a new process")
        yield Measurement(f"twin/{game}/loop", first_s, "s", note="compiling the loop of random play, its first call")
        if rate_of is not None:
            note = f"{STEPS} steps a call; baseline: pgx's own environment of the game"
            yield interleaved(f"{name}/pgx", "steps/s", lambda: compiled.rate(count, STEPS)[0], rate_of, PAIRS, note)
        if game in batched.ids():
            by_hand = accelerated.load("arena.benchmarks.batched_steps").rate_of(game, count, STEPS)
            note = f"{STEPS} steps a call; baseline: the batched game that was written by hand"
            own = f"{name}/by-hand"
            yield interleaved(own, "steps/s", lambda: compiled.rate(count, STEPS)[0], by_hand, PAIRS, note)
    yield from _learning(bundle, twin, count)


def _learning(bundle: ModelBundle, twin: StoredTwin, lanes: int) -> Iterator[Measurement]:
    try:
        module = accelerated.load("arena.benchmarks.twin_learning")
    except GameError as error:
        yield Measurement(f"twin/{bundle.info['id']}/ppo", None, "decisions/s", note=str(error))
        return
    yield from module.run(bundle, twin, lanes)


def _worker_rate(bundle: ModelBundle, twin: StoredTwin) -> float:
    """Returns decisions a second of the model's worker, played by chance at one seat."""
    config = EnvironmentConfig(seat=0, actions=twin.traced.form.actions, games=WORKER_GAMES)
    draws = np.random.default_rng(0)
    with ModelEnvironment(bundle, config, ObservationVectors.from_json(twin.schema), Sandbox()) as environment:
        arrival = environment.begin()
        steps, began = 0, time.perf_counter()
        while time.perf_counter() - began < WORKER_S:
            legal = np.asarray(arrival.legal, dtype=np.float64)
            choices = (legal * draws.random(legal.shape)).argmax(axis=1)
            arrival = environment.step(choices.astype(np.int32))
            steps += WORKER_GAMES
        # The worker plays the other seats, too: every decision of the game counts, not the learner's alone.
        return steps * bundle.game_info.num_players / (time.perf_counter() - began)
