"""`cwm benchmark suites`: seconds for the unit tests of one candidate, made from the games that a synthesis records.

The candidate is the recorded model, which passes them all: a program that fails is never tested for longer.
"""

import statistics
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from arena.benchmarks.measurement import Measurement
from arena.machine import shipped
from arena.runs import inputs as run_inputs
from arena.runs.hidden_information import HiddenInformation
from arena.runs.origins import GAMES, SEED
from arena.runs.task import make_task
from arena.usage import UsageError
from cwm.model.bundle import ModelBundle
from cwm.sandbox.parent.host import Sandbox
from cwm.suite.build import to_worker
from cwm.suite.contract import ContractOptions, Pair, verify
from cwm.suite.types import UnitTest
from cwm.synthesis.config import SynthesisConfig
from cwm.synthesis.testing import CONTRACT_GAMES, ProcessTester, TesterSettings, started_worker

ROUNDS = 3


def run(models: Iterable[tuple[str, ModelBundle]], workers: int) -> Iterator[Measurement]:
    """Yields three figures a game, each the median of `ROUNDS` rounds.

    `suite/GAME/seconds`: start of a worker and all unit tests of one candidate. `suite/GAME/contract`: what is checked
    of a candidate that passed them. `suite/GAME/together`: both, for as many candidates at once as there are workers,
    beside the same candidates one after the other.

    Args:
        models: registry ids and models, read one at a time.
        workers: processes at once.

    Raises:
        UsageError: a model does not pass.
        TesterError: no worker can be started.
    """
    for game_id, bundle in models:
        yield from _of_game(game_id, bundle, workers)


def _of_game(game_id: str, bundle: ModelBundle, workers: int) -> Iterator[Measurement]:
    inputs = run_inputs.registered(game_id, GAMES, SEED)
    hidden = HiddenInformation.of(bundle)
    tests = make_task(inputs, hidden).tests
    pairs = run_inputs.hidden_pairs(hidden.judge(inputs.game), inputs.train)
    level = shipped.level_of([bundle.hash])
    settings = TesterSettings.of(SynthesisConfig(), workers=workers, level=level)
    sandbox = Sandbox(settings.capped(), level)
    kinds = ", ".join(f"{number} {kind}" for kind, number in Counter(test.kind for test in tests).items())
    made = f"{GAMES} games: {kinds}; level {level}"
    seconds = statistics.median(_tests_s(bundle, tests, sandbox, settings) for _ in range(ROUNDS))
    yield Measurement(f"suite/{game_id}/seconds", seconds, "s", note=f"one candidate, {made}")
    contract = statistics.median(_contract_s(bundle, sandbox, pairs) for _ in range(ROUNDS))
    note = f"{CONTRACT_GAMES} random games, {len(pairs)} pairs of histories"
    yield Measurement(f"suite/{game_id}/contract", contract, "s", note=note)
    tester = ProcessTester(tests, inputs.info, inputs.initial_state, settings, pairs)
    together, alone = zip(*(_together_s(bundle, tester, workers) for _ in range(ROUNDS)), strict=True)
    yield Measurement(
        f"suite/{game_id}/together",
        statistics.median(together),
        "s",
        baseline=statistics.median(alone),
        ratio=statistics.median(one / other for one, other in zip(together, alone, strict=True)),
        note=f"{workers} candidates, tests and contract, on {workers} workers beside one after the other",
    )


def _tests_s(bundle: ModelBundle, tests: Sequence[UnitTest], sandbox: Sandbox, settings: TesterSettings) -> float:
    began = time.perf_counter()
    with started_worker(sandbox, bundle.program(), settings.seed) as worker:
        data = [to_worker(test) for test in tests]
        reply = worker.run_tests(data, seed=settings.seed, per_test_s=settings.test_seconds)
    seconds = time.perf_counter() - began
    passed = sum(result["status"] == "pass" for result in reply.value)
    if passed != len(tests):
        raise UsageError(
            f"The model of {bundle.game_info.id} passed {passed} of {len(tests)} unit tests ({reply.outcome.value}): "
            "only one that passes all is timed; record its synthesis again."
        )
    return seconds


def _contract_s(bundle: ModelBundle, sandbox: Sandbox, pairs: Sequence[Pair]) -> float:
    began = time.perf_counter()
    verify(bundle.program(), sandbox, ContractOptions(games=CONTRACT_GAMES), pairs)
    return time.perf_counter() - began


def _together_s(bundle: ModelBundle, tester: ProcessTester, candidates: int) -> tuple[float, float]:
    """Returns seconds for several candidates at once, and one after the other."""
    began = time.perf_counter()
    tester([bundle.source] * candidates)
    halfway = time.perf_counter()
    for _ in range(candidates):
        tester([bundle.source])
    return halfway - began, time.perf_counter() - halfway
