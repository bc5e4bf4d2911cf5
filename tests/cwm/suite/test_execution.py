"""One runner says what a death of a worker, a fault of ours and a program that does not load mean for the tests."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pytest

from cwm.quality.mutation_score import LOADING, ScoreOptions, first_failure
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import Failure, Limits, Outcome, ProgramSource, Reply
from cwm.suite.execution import INFRA_RETRIES, NOT_RUN, RunOptions, run_tests
from cwm.suite.types import UnitTest
from cwm.synthesis.candidate import SuiteReport, TesterError
from cwm.synthesis.testing import ProcessTester, TesterSettings
from games import registry

INFO = registry.make("tic_tac_toe").info
TESTS = [UnitTest(f"t{number}", "value", {}, 0, number) for number in range(5)]
OK, DEAD = Reply(Outcome.OK), Reply(Outcome.CRASHED, failure=Failure("Exit", "it ended"))
OURS = Reply(Outcome.INFRA_ERROR, failure=Failure("WorkerLost", "it is gone"))
HANGS = "while True: pass"


class ScriptedWorker:
    """Passes so many tests, then answers with a reply; a list of both for its requests, the last for all others."""

    excused_s = 0.0

    def __init__(self, loaded: Reply, script: Iterator[tuple[int, Reply]]) -> None:
        self.loaded, self.alive, self._script = loaded, True, script

    def run_tests(self, tests: list[Any], **options: Any) -> Reply:
        passes, reply = next(self._script)
        named = [{"id": test["id"], "kind": test["kind"], "status": "pass", "fields": {}} for test in tests[:passes]]
        return Reply(reply.outcome, named, reply.failure)

    def close(self) -> None:
        self.alive = False


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Returns a function that makes every sandbox's workers follow a script, and returns the list of the started."""

    def follow(script: list[tuple[int, Reply]], loaded: Reply = OK) -> list[ScriptedWorker]:
        started: list[ScriptedWorker] = []
        lines = iter(script)

        def start(*arguments: Any) -> ScriptedWorker:
            started.append(ScriptedWorker(loaded, lines))
            return started[-1]

        monkeypatch.setattr(Sandbox, "start", start)
        return started

    return follow


def program(source: str) -> ProgramSource:
    return ProgramSource(source, {}, asdict(INFO))


def statuses(max_deaths: int) -> list[str]:
    results = run_tests(program(""), TESTS, Sandbox(), RunOptions(max_deaths=max_deaths))
    assert [result.id for result in results] == [test.id for test in TESTS]
    return [result.field or result.status for result in results]


def report_of(source: str, settings: TesterSettings) -> SuiteReport:
    [report] = ProcessTester(TESTS, INFO, {}, settings)([source])
    return report


def test_one_death_more_than_allowed_ends_a_chunk_and_the_last_allowed_a_candidate(scripted: Any) -> None:
    script = [(1, DEAD), (1, DEAD), (1, OK)]
    started = scripted(script)
    assert statuses(max_deaths=1) == ["pass", "crashed", "pass", NOT_RUN, NOT_RUN]
    assert len(started) == 2
    scripted(script)
    assert statuses(max_deaths=2) == ["pass", "crashed", "pass", "crashed", "pass"]
    scripted(script)
    tested = report_of("", TesterSettings(max_timeouts=2))
    assert [result.field or result.status for result in tested.results] == ["pass", "crashed", "pass", "crashed"]
    assert tested.counts["value"].not_run == 1


def test_a_fault_of_ours_is_tried_again_as_often_everywhere_and_never_scored(scripted: Any) -> None:
    twice = [(1, OURS)] * INFRA_RETRIES + [(3, OK)]
    scripted(twice)
    assert statuses(max_deaths=0) == ["pass"] * 5
    always = [(0, OURS)] * 10
    started = scripted(always)
    assert statuses(max_deaths=1) == ["infra_error", *[NOT_RUN] * 4]
    assert len(started) == INFRA_RETRIES + 2
    scripted(always)
    with pytest.raises(TesterError, match="the sandbox failed more than 2 times: WorkerLost: it is gone"):
        report_of("", TesterSettings(max_timeouts=3))
    scripted(always)
    with pytest.raises(TesterError, match="a mutant could not be tested: the sandbox failed 3 times"):
        first_failure(program(""), TESTS, Sandbox(), ScoreOptions())


def test_a_death_after_the_last_result_changes_no_result(scripted: Any) -> None:
    scripted([(5, DEAD)])
    assert statuses(max_deaths=0) == ["pass"] * 5


def test_a_program_that_hangs_while_it_loads_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    started, start = [], Sandbox.start

    def counted(sandbox: Sandbox, *arguments: Any) -> Any:
        started.append(sandbox)
        return start(sandbox, *arguments)

    monkeypatch.setattr(Sandbox, "start", counted)
    sandbox = Sandbox(Limits(wall_s=0.3), "process")
    results = run_tests(program(HANGS), TESTS, sandbox, RunOptions())
    assert [result.outcome for result in results] == [Outcome.WALL_TIMEOUT] * 5
    assert len(started) == 1
    assert first_failure(program(HANGS), TESTS, sandbox, ScoreOptions()) == (LOADING, "wall_timeout")
    report = report_of(HANGS, TesterSettings(load_seconds=0.3, level="process"))
    assert (report.outcome, report.results) == (Outcome.WALL_TIMEOUT, ())
    assert report.problems[0].startswith("it could not be loaded: Timeout")
    assert len(started) == 3
