"""Runs unit tests of one program over one or more workers; results do not depend on how many there are."""

import json
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, replace
from queue import LifoQueue
from typing import TypeAlias

from cwm.sandbox.parent.host import Sandbox, Worker
from cwm.sandbox.wire.api import Outcome, ProgramSource, Reply
from cwm.sandbox.wire.blame import Ours, blame
from cwm.storage.keys import content_key
from cwm.suite.batches import Batches
from cwm.suite.build import death_result, parse_result, to_worker
from cwm.suite.types import UnitTest, UnitTestResult

CHUNK = 250
"""At most so many tests share one namespace of the program; fixed, so that results do not depend on the number of
workers."""
CHUNK_BYTES = 8_000_000
"""And so many bytes of their JSON, or one test that is larger: a worker holds a chunk whole, in bounded memory."""
AHEAD = 2
"""So many chunks a worker are made or tested while the first of them is waited for."""
INFRA_RETRIES = 2
"""A failure of ours is tried again so often: it is never scored against a program."""
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


class DoneCount:
    """Counts results over all threads, and tells how far they are.

    Args:
        total: how many there will be.
        progress: told (results so far, `total`).
    """

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total = total
        self._progress = progress
        self._done = 0
        self._lock = threading.Lock()

    def add(self, number: int = 1) -> None:
        """Counts `number` more."""
        with self._lock:
            self._done += number
            if self._progress:
                self._progress(self._done, self._total)


def run_tests(
    program: ProgramSource,
    tests: Sequence[UnitTest],
    sandbox: Sandbox,
    options: RunOptions = DEFAULT_OPTIONS,
    progress: Progress | None = None,
    batches: Batches | None = None,
) -> list[UnitTestResult]:
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
    report = DoneCount(len(tests), progress)
    with closing(run_stream(program, tests, sandbox, options, report.add, batches)) as done:
        return [result for _, results in done for result in results]


def run_stream(
    program: ProgramSource,
    tests: Iterable[UnitTest],
    sandbox: Sandbox,
    options: RunOptions = DEFAULT_OPTIONS,
    on_results: Callable[[int], None] = lambda number: None,
    batches: Batches | None = None,
) -> Generator[tuple[Sequence[UnitTest], list[UnitTestResult]], None, None]:
    """Runs tests as they are made, and yields them chunk by chunk in the given order, each with its results.

    Only a few chunks are held at a time, however many tests there are. Close the iterator to end the workers.

    Args:
        program: what is tested.
        tests: with distinct ids; read from the calling thread.
        sandbox: where it runs.
        options: how.
        on_results: told how many more tests are done, from any thread.
        batches: keeps the results of each finished chunk, and serves those that it has; None for nowhere.

    Raises:
        SandboxUnavailableError: no worker can be started.
    """
    lanes = max(1, options.workers)
    idle: LifoQueue[SuiteRunner] = LifoQueue()
    waiting: deque[tuple[Sequence[UnitTest], Future[list[UnitTestResult]]]] = deque()

    def run_chunk(chunk: Sequence[UnitTest]) -> list[UnitTestResult]:
        runner = idle.get()
        try:
            return _chunk_results(runner, chunk, on_results, batches)
        finally:
            idle.put(runner)

    with ExitStack() as stack:
        for _ in range(lanes):
            idle.put(stack.enter_context(closing(SuiteRunner(program, sandbox, options, on_results))))
        pool = stack.enter_context(ThreadPoolExecutor(max_workers=lanes))
        # Entered last, so that what is left is dropped before the pool waits for what is running.
        stack.callback(pool.shutdown, wait=False, cancel_futures=True)
        for chunk in chunked(tests):
            waiting.append((chunk, pool.submit(run_chunk, chunk)))
            if len(waiting) >= AHEAD * lanes:
                first, future = waiting.popleft()
                yield first, future.result()
        while waiting:
            first, future = waiting.popleft()
            yield first, future.result()


def chunked(tests: Iterable[UnitTest]) -> Iterator[list[UnitTest]]:
    """Yields tests in chunks of `CHUNK` tests or `CHUNK_BYTES` bytes, whichever is full first."""
    chunk: list[UnitTest] = []
    size = 0
    for test in tests:
        own = len(json.dumps(test.data))
        if chunk and (len(chunk) >= CHUNK or size + own > CHUNK_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(test)
        size += own
    if chunk:
        yield chunk


def _chunk_results(
    runner: "SuiteRunner", chunk: Sequence[UnitTest], on_results: Callable[[int], None], batches: Batches | None
) -> list[UnitTestResult]:
    if batches is None:
        return runner.run(chunk)
    key = runner.key(chunk)
    results = batches.get(key)
    if results is not None:
        on_results(len(results))
        return results
    results = runner.run(chunk)
    # A failure of ours is no answer: the chunk is run again by the next process.
    if not any(result.outcome.is_ours for result in results):
        batches.put(key, results)
    return results


@dataclass(frozen=True)
class Ending:
    """Why the rest of some tests is not run.

    Attributes:
        reply: what became of the first test without a result, or of loading the program.
        loads: whether the program loaded.
    """

    reply: Reply
    loads: bool


class SuiteRunner:
    """Runs tests of one program in one worker at a time, and in a fresh one after a test that killed it.

    A context of `contextlib.closing`; not for several threads at once.

    Args:
        program: what is tested.
        sandbox: where it runs.
        options: how; `workers` is passed over.
        on_results: told how many more tests are done.
    """

    def __init__(
        self,
        program: ProgramSource,
        sandbox: Sandbox,
        options: RunOptions,
        on_results: Callable[[int], None] = lambda number: None,
    ) -> None:
        self._program = program
        self._sandbox = sandbox
        self._options = options
        self._on_results = on_results
        self._worker: Worker | None = None

    def key(self, tests: Sequence[UnitTest]) -> str:
        """Returns a key of all that decides the results of a chunk; the number of workers does not."""
        options = self._options
        decisive = {"seed": options.seed, "per_test_s": options.per_test_s, "max_deaths": options.max_deaths}
        where = {"level": self._sandbox.level, "limits": asdict(self._sandbox.limits)}
        program = asdict(self._program)
        if self._program.inference_source is None:
            # Keys of results from before there was such a field stay what they were.
            del program["inference_source"]
        return content_key([program, [to_worker(test) for test in tests], decisive, where])

    def close(self) -> None:
        """Ends the worker."""
        if self._worker is not None:
            self._worker.close()

    def run(self, tests: Sequence[UnitTest]) -> list[UnitTestResult]:
        """Returns one result a test, whatever the program does.

        Raises:
            SandboxUnavailableError: no worker can be started.
        """
        results, ending = self.run_first(tests)
        if ending is not None:
            rest = tests[len(results) :]
            results += [self._unrun(test, ending) for test in rest]
            self._on_results(len(rest))
        return results

    def run_first(self, tests: Sequence[UnitTest], end: float = math.inf) -> tuple[list[UnitTestResult], Ending | None]:
        """Runs tests until the program does not load, or its tests have killed more workers than they may.

        A failure of ours is tried again `INFRA_RETRIES` times; after that it is the outcome of the test.

        Args:
            tests: with distinct ids.
            end: of the time for all, as `time.monotonic` tells it; moved by what a worker is excused.

        Returns:
            Results of the first tests, in their order; and why there are no more, None if all are run or time is up.

        Raises:
            SandboxUnavailableError: no worker can be started.
        """
        results: list[UnitTestResult] = []
        deaths = failures_of_ours = 0
        while len(results) < len(tests) and time.monotonic() < end:
            worker = self._started()
            loads = worker.loaded.outcome is Outcome.OK
            reply = self._ask(worker, tests[len(results) :], end) if loads else replace(worker.loaded, value=[])
            end += worker.excused_s
            results += [parse_result(value) for value in reply.value]
            fault = blame(reply)
            if fault is None or len(results) == len(tests):
                continue
            if isinstance(fault, Ours) and failures_of_ours < INFRA_RETRIES:
                failures_of_ours += 1
            elif not loads or deaths >= self._options.max_deaths:
                return results, Ending(reply, loads)
            else:
                deaths += 1
                results.append(death_result(tests[len(results)], reply, self._options.per_test_s))
                self._on_results(1)
            self.close()
        return results, None

    def _ask(self, worker: Worker, tests: Sequence[UnitTest], end: float) -> Reply:
        return worker.run_tests(
            [to_worker(test) for test in tests],
            seed=self._options.seed,
            timeout_s=max(0.0, end - time.monotonic()),
            per_test_s=self._options.per_test_s,
            on_result=lambda _: self._on_results(1),
        )

    def _started(self) -> Worker:
        if self._worker is None or not self._worker.alive:
            self._worker = self._sandbox.start(self._program, self._options.seed)
        return self._worker

    def _unrun(self, test: UnitTest, ending: Ending) -> UnitTestResult:
        if not ending.loads:
            return death_result(test, ending.reply, self._options.per_test_s)
        cause = f"not run: the program ended or blocked its process in {self._options.max_deaths + 1} tests before"
        outcome = ending.reply.outcome
        message = f"{cause} ({outcome.value})"
        return UnitTestResult(test.id, test.kind, "error", NOT_RUN, None, None, message, "", outcome=outcome)
