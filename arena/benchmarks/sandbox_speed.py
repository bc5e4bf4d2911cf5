"""`cwm benchmark sandbox`: what a worker costs: lock, start, round trip, and random games beside this process.

Every figure is a median over interleaved pairs: all quantities are timed in turn, round after round, so that a machine
that slows down slows all of them; a calibration loop runs in every round and is reported with them. The costs of a
worker are those with the Connect Four model; the speed of random games is compared for every model that ships.
"""

import os
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict

from arena.benchmarks.measurement import Measurement
from arena.machine import shipped
from cwm.model.bundle import ModelBundle
from cwm.sandbox.inside.program import LoadedCode
from cwm.sandbox.parent import isolation, launch, levels, nurseries
from cwm.sandbox.parent.host import Sandbox, Worker
from cwm.sandbox.wire.api import Level, Limits
from games.api import Game
from search import session

PAIRS = 20
CALLS = 50
COSTS_OF = "connect_four"
PLAYOUT_S = 0.05
"""So long the random games of one measurement take."""
MOST_GAMES = 600
CALIBRATION = 100_000
"""Additions of the calibration loop."""


def run(bundles: Mapping[str, ModelBundle]) -> Iterator[Measurement]:
    """Yields the figures: medians of `PAIRS` rounds.

    Args:
        bundles: models by name; the one named `COSTS_OF`, or else the first, is the one that workers are started with.
    """
    calibration: list[float] = []
    had: list[Level] = [level for level in levels.STRONG if levels.probe(level).problem is None]
    costs = bundles.get(COSTS_OF, next(iter(bundles.values())))
    for level in had or [shipped.level_of([bundle.hash for bundle in bundles.values()])]:
        yield from _costs(costs, level, calibration)
        for name, bundle in bundles.items():
            yield _playouts(name, bundle, level, calibration)
    yield Measurement(
        "sandbox/calibration",
        statistics.median(calibration) * 1e3,
        "ms",
        note=f"a loop of {CALIBRATION:,} additions in this process, median of {len(calibration)}; {_load()}",
    )


def _costs(bundle: ModelBundle, level: Level, calibration: list[float]) -> Iterator[Measurement]:
    times: dict[str, list[float]] = defaultdict(list)
    forks = nurseries.supported(isolation.select(level))
    with Sandbox(level=level, payload=session.PAYLOAD).start(bundle.program()) as worker:
        _start(bundle, level, forks)
        for number in range(PAIRS):
            calibration.append(_calibrate())
            for name, at, forked in (("process", "process", False), ("start", level, False), ("fork", level, forks)):
                if at == "process" and not shipped.MODELS & {bundle.hash}:
                    continue
                ready_s, loaded_s, lock_s = _start(bundle, levels.named(at), forked)
                times[name].append(ready_s)
                times[f"loaded/{name}"].append(loaded_s)
                times[f"lock/{name}"].append(lock_s)
            times["call"].append(_call(worker, bundle, number))
    yield from _starts(level, times, forks)


def _playouts(name: str, bundle: ModelBundle, level: Level, calibration: list[float]) -> Measurement:
    own: Game = LoadedCode(asdict(bundle.program())).instantiate()
    games = max(1, min(MOST_GAMES, round(PLAYOUT_S * _own(own, 0, 1))))
    inside, outside = [], []
    with Sandbox(level=level, payload=session.PAYLOAD).start(bundle.program()) as worker:
        for number in range(PAIRS):
            calibration.append(_calibrate())
            # Turn about, so that neither is always the one to come second.
            if number % 2:
                outside.append(_own(own, number, games))
            inside.append(_inside(worker, number, games))
            if not number % 2:
                outside.append(_own(own, number, games))
    return Measurement(
        f"sandbox/{level}/playouts/{name}",
        statistics.median(inside),
        "games/s",
        baseline=statistics.median(outside),
        ratio=statistics.median(one / two for one, two in zip(inside, outside, strict=True)),
        note=f"{games} random games of {name} inside the worker beside this process, {PAIRS} pairs",
    )


def _starts(level: Level, times: dict[str, list[float]], forks: bool) -> Iterator[Measurement]:
    note = f"median of {PAIRS}"
    process = times["process"]
    yield Measurement(f"sandbox/{level}/lock", statistics.median(times["lock/start"]) * 1e3, "ms", note=note)
    if forks:
        yield Measurement(
            f"sandbox/{level}/lock/forked", statistics.median(times["lock/fork"]) * 1e3, "ms", note=f"{note}, forked"
        )
    yield Measurement(
        f"sandbox/{level}/start",
        statistics.median(times["start"]) * 1e3,
        "ms",
        baseline=statistics.median(process) * 1e3 if process else None,
        ratio=statistics.median(one / two for one, two in zip(times["start"], process, strict=True))
        if process
        else None,
        note=f"{note}, by exec, until it is locked; baseline: without a lock (level process)",
    )
    if forks:
        yield Measurement(
            f"sandbox/{level}/start/forked",
            statistics.median(times["fork"]) * 1e3,
            "ms",
            note=f"{note}, from the clean process, until it is locked",
        )
        yield Measurement(
            f"sandbox/{level}/start/loaded",
            statistics.median(times["loaded/fork"]) * 1e3,
            "ms",
            note=f"{note}, the same, until the program is loaded, which is sent along",
        )
    calls = f"{note} times {CALLS} round trips"
    yield Measurement(f"sandbox/{level}/call", statistics.median(times["call"]) * 1e6, "µs", note=calls)


def _calibrate() -> float:
    begin = time.perf_counter()
    total = 0
    for number in range(CALIBRATION):
        total += number
    return time.perf_counter() - begin


def _load() -> str:
    return f"load of the machine {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "load unknown"


def _start(bundle: ModelBundle, level: Level, forked: bool) -> tuple[float, float, float]:
    """Returns seconds until a worker is locked, until another one has loaded a program, and that the lock took."""
    chosen, limits = isolation.select(level), Limits()
    begin = time.perf_counter()
    started = nurseries.fork(chosen, limits, ()) if forked else launch.cold(chosen, limits, ())
    ready_s = time.perf_counter() - begin
    with Worker(started, limits) as worker:
        lock_s = worker.lock_s
    sandbox, program = Sandbox(limits, level, nursery=forked), bundle.program()
    begin = time.perf_counter()
    with sandbox.start(program):
        return ready_s, time.perf_counter() - begin, lock_s


def _call(worker: Worker, bundle: ModelBundle, seed: int) -> float:
    begin = time.perf_counter()
    for _ in range(CALLS):
        worker.call("get_current_player", [bundle.initial_state], seed=seed)
    return (time.perf_counter() - begin) / CALLS


def _inside(worker: Worker, seed: int, games: int) -> float:
    reply = worker.payload("search.session", "playouts", {"games": games}, seed=seed, timeout_s=600.0)
    if reply.failure is not None:
        raise RuntimeError(f"the model failed: {reply.failure.message}")
    return float(reply.value["games"] / reply.value["seconds"])


def _own(game: Game, seed: int, games: int) -> float:
    # The very numbers that the worker draws, so that both play the same games.
    made = session.playouts(game, {"games": games}, random.Random(f"payload/{seed}"))
    return float(made["games"] / made["seconds"])
