"""Runs unit tests of one program over one or more workers; results do not depend on how many there are."""

import json
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from queue import LifoQueue
from typing import TypeAlias

from cwm.sandbox.parent.host import Sandbox, Worker
from cwm.sandbox.wire.api import Failure, Outcome, ProgramSource, Reply
from cwm.sandbox.wire.blame import Ours, blame
from cwm.storage.keys import content_key
from cwm.suite.batches import Batches
from cwm.suite.build import death_result, parse_result, to_worker
from cwm.suite.types import UnitTest, UnitTestResult
from games.api import Json

CHUNK = 250
"""At most so many tests share one namespace of the program; fixed, so that results do not depend on the number of
workers."""
CHUNK_BYTES = 8_000_000
"""And so many bytes of their JSON, or one test that is larger: a worker holds a chunk whole, in bounded memory."""
AHEAD = 2
"""So many chunks a worker are made or tested while the first of them is waited for."""
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
    idle: LifoQueue[_Lane] = LifoQueue()
    waiting: deque[tuple[Sequence[UnitTest], Future[list[UnitTestResult]]]] = deque()

    def run_chunk(chunk: Sequence[UnitTest]) -> list[UnitTestResult]:
        lane = idle.get()
        try:
            return _chunk_results(lane, chunk, on_results, batches)
        finally:
            idle.put(lane)

    with ExitStack() as stack:
        for _ in range(lanes):
            idle.put(stack.enter_context(closing(_Lane(program, sandbox, options, on_results))))
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
    lane: "_Lane", chunk: Sequence[UnitTest], on_results: Callable[[int], None], batches: Batches | None
) -> list[UnitTestResult]:
    if batches is None:
        return lane.run(chunk)
    key = lane.key(chunk)
    results = batches.get(key)
    if results is not None:
        on_results(len(results))
        return results
    results = lane.run(chunk)
    # A failure of ours is no answer: the chunk is run again by the next process.
    if not any(result.outcome.is_ours for result in results):
        batches.put(key, results)
    return results


class _Lane:
    """One worker at a time, for some of the chunks."""

    def __init__(
        self, program: ProgramSource, sandbox: Sandbox, options: RunOptions, on_results: Callable[[int], None]
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
        return content_key([asdict(self._program), [to_worker(test) for test in tests], decisive, where])

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()

    def run(self, tests: Sequence[UnitTest]) -> list[UnitTestResult]:
        """Returns one result a test, whatever the program does."""
        results: list[UnitTestResult] = []
        deaths = failures_of_ours = 0
        while len(results) < len(tests):
            reply = self._request(tests[len(results) :])
            results += [parse_result(value) for value in reply.value]
            fault = blame(reply)
            if fault is None:
                continue
            if isinstance(fault, Ours) and failures_of_ours < INFRA_RETRIES:
                failures_of_ours += 1
                self.close()
                continue
            deaths += 1
            if self._started().loaded.outcome is not Outcome.OK or deaths > self._options.max_deaths:
                results += self._rest(tests[len(results) :], reply, deaths)
            else:
                results.append(death_result(tests[len(results)], reply, self._options.per_test_s))
                self._on_results(1)
        return results

    def _request(self, tests: Sequence[UnitTest]) -> Reply:
        worker = self._started()
        if worker.loaded.outcome is not Outcome.OK:
            return Reply(worker.loaded.outcome, [], worker.loaded.failure, worker.loaded.output_tail)
        data: list[Json] = [to_worker(test) for test in tests]
        options = self._options
        return worker.run_tests(
            data, seed=options.seed, per_test_s=options.per_test_s, on_result=lambda _: self._on_results(1)
        )

    def _started(self) -> Worker:
        if self._worker is None or not self._worker.alive:
            self._worker = self._sandbox.start(self._program, self._options.seed)
        return self._worker

    def _rest(self, tests: Sequence[UnitTest], reply: Reply, deaths: int) -> Iterator[UnitTestResult]:
        """Yields results of tests that are not run: the program does not load, or died too often."""
        for test in tests:
            self._on_results(1)
            if self._started().loaded.outcome is not Outcome.OK:
                yield death_result(test, reply, self._options.per_test_s)
            else:
                cause = f"not run: the program ended or blocked its process in {deaths} tests before"
                failure = Failure("NotRun", f"{cause} ({reply.outcome.value})")
                yield _not_run(test, Reply(reply.outcome, failure=failure))


def _not_run(test: UnitTest, reply: Reply) -> UnitTestResult:
    message = reply.failure.message if reply.failure else ""
    return UnitTestResult(test.id, test.kind, "error", NOT_RUN, None, None, message, "", outcome=reply.outcome)
