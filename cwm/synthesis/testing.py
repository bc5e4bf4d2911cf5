"""Tests candidate programs in parallel worker processes; results do not depend on how many there are."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TypeVar

from cwm.sandbox.parent import levels
from cwm.sandbox.parent.host import Sandbox, Worker
from cwm.sandbox.wire.api import Level, Limits, Outcome, ProgramSource, SandboxUnavailableError
from cwm.suite.build import death_result
from cwm.suite.contract import ContractCheckError, ContractOptions, Pair, as_results, verify
from cwm.suite.execution import INFRA_RETRIES, RunOptions, SuiteRunner
from cwm.suite.types import UnitTest, UnitTestResult
from cwm.synthesis.candidate import SuiteReport, TesterError, count_results, problem_of, unrun_report
from cwm.synthesis.config import SynthesisConfig
from cwm.synthesis.task import described
from games.api import GameInfo, Json
from games.posg.api import PosgInfo

T = TypeVar("T")

CONTRACT_GAMES = 4


@dataclass(frozen=True)
class TesterSettings:
    """How programs are tested.

    Attributes:
        workers: processes at the same time.
        seed: of everything random in a worker; each test is seeded from it and its own id.
        test_seconds: wall-clock seconds for one test.
        total_seconds: wall-clock seconds for all tests of one program.
        load_seconds: wall-clock seconds for loading a program, and for loading it again before the first test.
        max_timeouts: after so many tests that ran out of time or killed their worker, the rest is not run.
        level: isolation level.
        limits: caps on each worker.
        payoffs: see `ContractOptions`.
    """

    workers: int = 2
    seed: int = 0
    test_seconds: float = 5.0
    total_seconds: float = 120.0
    load_seconds: float = 10.0
    max_timeouts: int = 3
    level: Level = field(default_factory=levels.default)
    limits: Limits = field(default_factory=Limits)
    payoffs: bool = True

    @classmethod
    def of(cls, config: SynthesisConfig, *, workers: int = 2, level: Level | None = None) -> "TesterSettings":
        """Returns the settings that a synthesis asks for."""
        return cls(
            workers=workers,
            seed=config.seed,
            test_seconds=config.test_seconds,
            total_seconds=config.total_seconds,
            max_timeouts=config.max_timeouts,
            level=levels.default() if level is None else level,
        )

    def capped(self) -> Limits:
        """Returns the worker's caps, where a request takes no longer than loading may."""
        return replace(self.limits, wall_s=min(self.limits.wall_s, self.load_seconds))

    def run_options(self) -> RunOptions:
        """Returns how the tests of one program are run: the last of `max_timeouts` ends the run."""
        return RunOptions(seed=self.seed, per_test_s=self.test_seconds, max_deaths=self.max_timeouts - 1)


class ProcessTester:
    """A `Tester`: each program gets a worker of its own, and a fresh one after a test that killed it.

    Args:
        tests: the whole suite.
        info: what is fixed about the game.
        initial_state: bound to INITIAL_STATE.
        settings: limits and workers.
        pairs: histories that a player cannot tell apart, see `cwm.suite.contract.hidden_pairs`; a program that
            passes all tests must not show them apart. () where no true game says which these are: there the program's
            own `resample_history` does.
        joint: what is fixed about a game of simultaneous moves whose program has a joint step; None for others.
    """

    def __init__(
        self,
        tests: Sequence[UnitTest],
        info: GameInfo,
        initial_state: Json,
        settings: TesterSettings,
        pairs: Sequence[Pair] = (),
        joint: PosgInfo | None = None,
    ) -> None:
        self._tests = tuple(tests)
        self._kinds = [test.kind for test in tests]
        self._info = described(info, joint)
        self._initial_state = initial_state
        self._settings = settings
        self._pairs = tuple(pairs)
        self._sandbox = Sandbox(settings.capped(), settings.level)

    def __call__(self, sources: Sequence[str]) -> list[SuiteReport]:
        """Tests every program.

        Returns:
            One report a program, in the given order.

        Raises:
            TesterError: the sandbox failed again and again.
        """
        return in_parallel(self._test, sources, self._settings.workers)

    def _test(self, source: str) -> SuiteReport:
        started = time.monotonic()
        program = ProgramSource(source, self._initial_state, self._info)
        try:
            with closing(SuiteRunner(program, self._sandbox, self._settings.run_options())) as runner:
                results, ending = runner.run_first(self._tests, started + self._settings.total_seconds)
            if ending is not None and not ending.loads and not results:
                problem = f"it could not be loaded: {problem_of(ending.reply)}"
                return unrun_report(self._kinds, ending.reply.outcome, [problem])
            if ending is not None:
                results.append(death_result(self._tests[len(results)], ending.reply, self._settings.test_seconds))
            for result in results:
                if result.outcome.is_ours:
                    raise TesterError(f"the sandbox failed more than {INFRA_RETRIES} times: {result.message}")
            if len(results) == len(self._tests) and all(result.status == "pass" for result in results):
                results += self._broken_rules(program)
        except SandboxUnavailableError as error:
            raise TesterError(f"no program can be tested: {error}") from error
        kinds = [*self._kinds, *(result.kind for result in results[len(self._tests) :])]
        counts = count_results(kinds, results)
        return SuiteReport(Outcome.OK, (), counts, tuple(results), time.monotonic() - started)

    def _broken_rules(self, program: ProgramSource) -> list[UnitTestResult]:
        """Returns what the contract of every game says against a program that passes all tests."""
        options = ContractOptions(games=CONTRACT_GAMES, seed=self._settings.seed, payoffs=self._settings.payoffs)
        try:
            found = verify(program, self._sandbox, options, self._pairs)
        except ContractCheckError:
            # Our fault is not scored against a program, and the tests have spoken for it.
            return []
        # The time that a whole check takes says nothing of a program; the tests have timed its answers.
        return as_results([violation for violation in found if violation.rule != Outcome.WALL_TIMEOUT], program.joint)


def started_worker(sandbox: Sandbox, program: ProgramSource, seed: int) -> Worker:
    """Returns a worker with the program loaded, or with the reason why it could not be.

    Raises:
        TesterError: no worker can be started.
    """
    try:
        return sandbox.start(program, seed)
    except SandboxUnavailableError as error:
        raise TesterError(f"no program can be tested: {error}") from error


def in_parallel(work: Callable[[str], T], sources: Sequence[str], workers: int) -> list[T]:
    """Returns what `work` says of each source, in their order."""
    if workers <= 1 or len(sources) <= 1:
        return [work(source) for source in sources]
    with ThreadPoolExecutor(max_workers=workers) as pool:
        return list(pool.map(work, sources))
