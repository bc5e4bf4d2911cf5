"""Checks value functions beside their model: unit tests, random games, speed."""

from collections.abc import Sequence
from dataclasses import asdict

from cwm.functions.probe_answers import are_counts, is_measured
from cwm.functions.types import FunctionReport
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import ProgramSource, Reply
from cwm.suite.build import to_worker
from cwm.suite.types import UnitTest
from cwm.synthesis.candidate import problem_of
from cwm.synthesis.testing import TesterSettings, in_parallel, started_worker
from games.api import GameInfo, Json

SPEED = "cwm.functions.value_probe"
SHOWN_PROBLEMS = 3


class ProcessValueChecker:
    """A `FunctionChecker`: each value function gets a worker of its own, with the model beside it.

    Args:
        source: the model.
        tests: tests of kind `value`.
        info: what is fixed about the game.
        initial_state: bound to INITIAL_STATE.
        settings: limits and workers.
        random_games: games played on the model; every state visited is asked about.
        speed_seconds: how long speed is measured.
        bounds_known: whether values outside the game's bounds are a fault; not so where the bounds are a guess.
    """

    def __init__(
        self,
        source: str,
        tests: Sequence[UnitTest],
        info: GameInfo,
        initial_state: Json,
        settings: TesterSettings,
        *,
        random_games: int = 20,
        speed_seconds: float = 0.2,
        bounds_known: bool = True,
    ) -> None:
        self._source = source
        self._tests = [to_worker(test) for test in tests]
        self._info = asdict(info)
        self._initial_state = initial_state
        self._settings = settings
        self._argument = {"games": random_games, "seconds": speed_seconds}
        self._bounds_known = bounds_known
        self._sandbox = Sandbox(settings.capped(), settings.level, (SPEED,))

    def __call__(self, sources: Sequence[str]) -> list[FunctionReport]:
        """Checks every value function.

        Returns:
            One report each, in the given order.

        Raises:
            TesterError: the sandbox failed.
        """
        # One at a time: functions that run beside each other would slow each other's clock.
        return in_parallel(self._check, sources, workers=1)

    def _check(self, source: str) -> FunctionReport:
        program = ProgramSource(self._source, self._initial_state, self._info, value_source=source)
        with started_worker(self._sandbox, program, self._settings.seed) as worker:
            if problem := problem_of(worker.loaded):
                return FunctionReport((f"it could not be loaded: {problem}",))
            reply = worker.run_tests(
                self._tests,
                seed=self._settings.seed,
                timeout_s=self._settings.total_seconds,
                per_test_s=self._settings.test_seconds,
            )
            failed = [result for result in reply.value if result["status"] != "pass"]
            problems = [f"test {result['id']}: {result['message']}" for result in failed[:SHOWN_PROBLEMS]]
            if problem := problem_of(reply):
                problems.append(f"a test ended its worker: {problem}")
            if problems:
                return FunctionReport(tuple(problems), None, len(reply.value))
            measured = worker.payload(
                SPEED, "measure", self._argument, seed=self._settings.seed, timeout_s=self._settings.total_seconds
            )
        if problem := problem_of(measured):
            return FunctionReport((f"it failed in random games on the model: {problem}",), None, len(reply.value))
        if not _are_figures(measured.value):
            return FunctionReport(
                ("its worker's answer on random games is not what was asked for",), None, len(reply.value)
            )
        return self._judge(measured, len(reply.value))

    def _judge(self, measured: Reply, tested: int) -> FunctionReport:
        figures = measured.value
        problems = []
        if figures["wrong_ends"]:
            problems.append(f"{figures['wrong_ends']} finished random games have a value that is not the reward")
        if figures["out_of_bounds"] and self._bounds_known:
            problems.append(f"{figures['out_of_bounds']} states have a value outside the bounds of the game")
        speed = figures["calls"] / figures["seconds"]
        return FunctionReport(tuple(problems), speed, tested + figures["states"])


def _are_figures(value: Json) -> bool:
    """Returns whether an answer has the form that is asked for: a program may have written it itself."""
    names = ("wrong_ends", "out_of_bounds", "calls", "states")
    return are_counts(value, names) and is_measured(value["calls"], value.get("seconds")) and value["seconds"] > 0
