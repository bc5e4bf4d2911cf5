"""Runs unit tests of one program over one or more workers; results do not depend on how many there are."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import TypeAlias

from cwm.record import content_key
from cwm.sandbox.api import Failure, Outcome, ProgramSource, Reply
from cwm.sandbox.host import Sandbox, Worker
from cwm.test_batches import Batches
from cwm.test_types import TestResult, UnitTest
from cwm.unit_tests import death_result, parse_result, to_worker
from games.api import Json

CHUNK = 250
"""Tests that share one namespace of the program; fixed, so that results do not depend on the number of workers."""
INFRA_RETRIES = 2
NOT_RUN = "not_run"

Progress: TypeAlias = Callable[[int, int], None]
"""Told (tests done, tests in all)."""


@dataclass(frozen=True)
class RunOptions:
    """How tests are run.

    Attributes:
        workers: processes at the same time.
        seed: each test is seeded from it and its own id.
        per_test_s: wall-clock seconds for one test.
        max_deaths: after so many tests of one chunk that killed their worker, the rest of the chunk is not run.
    """

    workers: int = 1
    seed: int = 0
    per_test_s: float = 10.0
    max_deaths: int = 3


DEFAULT_OPTIONS = RunOptions()


def run_tests(
    program: ProgramSource,
    tests: Sequence[UnitTest],
    sandbox: Sandbox,
    options: RunOptions = DEFAULT_OPTIONS,
    progress: Progress | None = None,
    batches: Batches | None = None,
) -> list[TestResult]:
    """Runs every test and returns one result each, in the given order.

    Args:
        program: what is tested.
        tests: with distinct ids.
        sandbox: where it runs.
        options: how.
        progress: told after every test, from any thread.
        batches: keeps the results of each finished chunk, and serves those that it has; None for nowhere.

    Raises:
        SandboxUnavailableError: no worker can be started.
    """
    chunks = [tests[start : start + CHUNK] for start in range(0, len(tests), CHUNK)]
    lanes = max(1, min(options.workers, len(chunks)))
    report = _Counter(len(tests), progress)
    work = [_Lane(program, sandbox, options, report.add) for _ in range(lanes)]

    def run_chunk(lane: _Lane, chunk: Sequence[UnitTest]) -> list[TestResult]:
        if batches is None:
            return lane.run(chunk)
        key = _chunk_key(program, chunk, sandbox, options)
        results = batches.get(key)
        if results is not None:
            report.add(len(results))
            return results
        results = lane.run(chunk)
        # A failure of ours is no answer: the chunk is run again by the next process.
        if not any(result.outcome.is_ours for result in results):
            batches.put(key, results)
        return results

    def run_lane(number: int) -> list[list[TestResult]]:
        with closing(work[number]) as lane:
            return [run_chunk(lane, chunk) for chunk in chunks[number::lanes]]

    with ThreadPoolExecutor(max_workers=lanes) as pool:
        done = list(pool.map(run_lane, range(lanes)))
    return [result for index in range(len(chunks)) for result in done[index % lanes][index // lanes]]


def _chunk_key(program: ProgramSource, chunk: Sequence[UnitTest], sandbox: Sandbox, options: RunOptions) -> str:
    """Returns a key of all that decides the results of a chunk; the number of workers does not."""
    decisive = {"seed": options.seed, "per_test_s": options.per_test_s, "max_deaths": options.max_deaths}
    where = {"level": sandbox.level, "limits": asdict(sandbox.limits)}
    return content_key([asdict(program), [to_worker(test) for test in chunk], decisive, where])


class _Counter:
    """Counts results over all threads."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total = total
        self._progress = progress
        self._done = 0
        self._lock = threading.Lock()

    def add(self, number: int = 1) -> None:
        with self._lock:
            self._done += number
            if self._progress:
                self._progress(self._done, self._total)


class _Lane:
    """One worker at a time, for some of the chunks."""

    def __init__(
        self, program: ProgramSource, sandbox: Sandbox, options: RunOptions, on_result: Callable[[], None]
    ) -> None:
        self._program = program
        self._sandbox = sandbox
        self._options = options
        self._on_result = on_result
        self._worker: Worker | None = None

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()

    def run(self, tests: Sequence[UnitTest]) -> list[TestResult]:
        """Returns one result a test, whatever the program does."""
        results: list[TestResult] = []
        deaths = failures_of_ours = 0
        while len(results) < len(tests):
            reply = self._request(tests[len(results) :])
            results += [parse_result(value) for value in reply.value]
            if reply.outcome is Outcome.OK:
                continue
            if reply.outcome.is_ours and failures_of_ours < INFRA_RETRIES:
                failures_of_ours += 1
                self.close()
                continue
            deaths += 1
            if self._started().loaded.outcome is not Outcome.OK or deaths > self._options.max_deaths:
                results += self._rest(tests[len(results) :], reply, deaths)
            else:
                results.append(death_result(tests[len(results)], reply, self._options.per_test_s))
                self._on_result()
        return results

    def _request(self, tests: Sequence[UnitTest]) -> Reply:
        worker = self._started()
        if worker.loaded.outcome is not Outcome.OK:
            return Reply(worker.loaded.outcome, [], worker.loaded.failure, worker.loaded.output_tail)
        data: list[Json] = [to_worker(test) for test in tests]
        options = self._options
        return worker.run_tests(
            data, seed=options.seed, per_test_s=options.per_test_s, on_result=lambda _: self._on_result()
        )

    def _started(self) -> Worker:
        if self._worker is None or not self._worker.alive:
            self._worker = self._sandbox.start(self._program, self._options.seed)
        return self._worker

    def _rest(self, tests: Sequence[UnitTest], reply: Reply, deaths: int) -> Iterator[TestResult]:
        """Yields results of tests that are not run: the program does not load, or died too often."""
        for test in tests:
            self._on_result()
            if self._started().loaded.outcome is not Outcome.OK:
                yield death_result(test, reply, self._options.per_test_s)
            else:
                cause = f"not run: the program ended or blocked its process in {deaths} tests before"
                failure = Failure("NotRun", f"{cause} ({reply.outcome.value})")
                yield _not_run(test, Reply(reply.outcome, failure=failure))


def _not_run(test: UnitTest, reply: Reply) -> TestResult:
    message = reply.failure.message if reply.failure else ""
    return TestResult(test.id, test.kind, "error", NOT_RUN, None, None, message, "", outcome=reply.outcome)
