"""`cwm benchmark sandbox`: what a worker costs: start, round trip, and random games inside it beside this process."""

import statistics
import time
from collections.abc import Iterator

from arena.benchmarks.measurement import Measurement
from cwm.model_bundle import ModelBundle
from cwm.sandbox.host import Sandbox, Worker
from search.session import PAYLOAD

PAIRS = 20
CALLS = 200
GAMES = 2000


def run(bundle: ModelBundle) -> Iterator[Measurement]:
    """Yields the figures: medians of `PAIRS` starts and `CALLS` calls."""
    note = f"median of {PAIRS}"
    yield Measurement("sandbox/start", _median_start(bundle, ()), "ms", note=f"{note}, program loaded")
    yield Measurement("sandbox/start/planner", _median_start(bundle, PAYLOAD), "ms", note=f"{note}, with the planners")
    with Sandbox(payload=PAYLOAD).start(bundle.program()) as worker:
        times = []
        for number in range(CALLS):
            begin = time.perf_counter()
            worker.call("get_current_player", [bundle.initial_state], seed=number)
            times.append(time.perf_counter() - begin)
        yield Measurement("sandbox/call", statistics.median(times) * 1e6, "µs", note=f"median of {CALLS} round trips")
        yield Measurement("sandbox/playouts", _playouts(worker), "games/s", note="random games inside the worker")


def _median_start(bundle: ModelBundle, payload: tuple[str, ...]) -> float:
    times = []
    for _ in range(PAIRS):
        begin = time.perf_counter()
        worker = Sandbox(payload=payload).start(bundle.program())
        times.append(time.perf_counter() - begin)
        worker.close()
    return statistics.median(times) * 1e3


def _playouts(worker: Worker) -> float:
    reply = worker.payload("search.session", "playouts", {"games": GAMES}, seed=0, timeout_s=600.0)
    if reply.failure is not None:
        raise RuntimeError(f"the model failed: {reply.failure.message}")
    return float(reply.value["games"] / reply.value["seconds"])
