"""Candidate programs of a synthesis, and what testing said of them."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from cwm.sandbox.wire.api import Outcome, Reply
from cwm.sandbox.wire.blame import Ours, blame
from cwm.storage.settings import known_fields
from cwm.suite.types import UnitTestResult

Status: TypeAlias = Literal["rejected", "broken", "tested", "passed"]


class TesterError(Exception):
    """Programs could not be tested through no fault of theirs, e.g. the sandbox is not to be had."""


@dataclass(frozen=True)
class KindCounts:
    """Outcomes of one kind of test. Wrong answers, exceptions and time-outs are never counted together.

    Attributes:
        passed: right answers.
        failed: wrong answers.
        errors: exceptions and deaths of the program.
        timeouts: tests that ran out of time.
        not_run: tests left out because the program did not load or ran out of time too often.
    """

    passed: int = 0
    failed: int = 0
    errors: int = 0
    timeouts: int = 0
    not_run: int = 0

    @property
    def total(self) -> int:
        """All tests of the kind."""
        return self.passed + self.failed + self.errors + self.timeouts + self.not_run

    @property
    def rate(self) -> float:
        """Share of all tests that passed, 0.0 where there are none."""
        return self.passed / self.total if self.total else 0.0


@dataclass(frozen=True)
class SuiteReport:
    """What testing said of one program.

    Attributes:
        outcome: `OK` if the program loaded and its tests were run, else why not.
        problems: what the static check found, or one line on why the program did not load.
        counts: by kind of test, all tests of the suite included.
        results: of each test that was run, in the suite's order.
        seconds: wall-clock time; decides nothing.
    """

    outcome: Outcome
    problems: tuple[str, ...]
    counts: Mapping[str, KindCounts]
    results: tuple[UnitTestResult, ...] = ()
    seconds: float = 0.0

    @property
    def heuristic(self) -> float:
        """Average pass rate over all tests of the suite, in [0, 1] (the CWM paper, C.1.3: h)."""
        total = sum(count.total for count in self.counts.values())
        return sum(count.passed for count in self.counts.values()) / total if total else 0.0

    @property
    def passes(self) -> bool:
        """Whether every test of the suite passed."""
        counts = self.counts.values()
        return self.outcome is Outcome.OK and bool(counts) and all(count.passed == count.total for count in counts)

    def pass_rates(self) -> dict[str, float]:
        """Returns the share of passed tests by kind."""
        return {kind: count.rate for kind, count in sorted(self.counts.items())}

    def to_json(self) -> dict[str, Any]:
        """Returns the report as JSON."""
        return {
            "outcome": self.outcome.value,
            "problems": list(self.problems),
            "counts": {kind: asdict(count) for kind, count in self.counts.items()},
            "results": [asdict(result) for result in self.results],
            "seconds": self.seconds,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "SuiteReport":
        """Returns the report that `to_json` wrote; unknown fields of a test's result are passed over."""
        return cls(
            outcome=Outcome(data["outcome"]),
            problems=tuple(data["problems"]),
            counts={kind: KindCounts(**count) for kind, count in data["counts"].items()},
            results=tuple(_result(result) for result in data["results"]),
            seconds=data["seconds"],
        )


Tester: TypeAlias = Callable[[Sequence[str]], list[SuiteReport]]
"""Tests programs, each on its own; report i is of program i, and does not depend on the others."""


def _result(data: Mapping[str, Any]) -> UnitTestResult:
    return UnitTestResult(**(known_fields(UnitTestResult, data) | {"outcome": Outcome(data["outcome"])}))


def count_results(kinds: Sequence[str], results: Sequence[UnitTestResult]) -> dict[str, KindCounts]:
    """Returns the outcomes by kind.

    Args:
        kinds: the kind of every test of the suite, run or not.
        results: of the tests that were run.
    """
    counts = {}
    for kind, total in sorted(Counter(kinds).items()):
        names = Counter(_count_name(result) for result in results if result.kind == kind)
        counts[kind] = KindCounts(**names, not_run=total - names.total())
    return counts


def _count_name(result: UnitTestResult) -> str:
    if result.outcome in (Outcome.WALL_TIMEOUT, Outcome.CPU_EXCEEDED):
        return "timeouts"
    return {"pass": "passed", "fail": "failed", "error": "errors"}[result.status]


def unrun_report(kinds: Sequence[str], outcome: Outcome, problems: Sequence[str]) -> SuiteReport:
    """Returns the report on a program of which no test was run."""
    return SuiteReport(outcome, tuple(problems), count_results(kinds, ()))


def problem_of(reply: Reply) -> str | None:
    """Returns one paragraph on what a program did wrong, None if it did nothing wrong.

    Raises:
        TesterError: it is not to blame.
    """
    fault = blame(reply)
    if isinstance(fault, Ours):
        raise TesterError(f"the sandbox failed: {fault.problem}")
    return None if fault is None else fault.problem


@dataclass(frozen=True)
class Candidate:
    """One program of a synthesis.

    Attributes:
        id: number in order of appearance, from 0.
        source: the program.
        hash: SHA-256 of the source.
        parent: id of the program that it refines, None if it came from the first prompt.
        step: number of the refinement step that made it.
        version: its number in its answer, from 1.
        report: what testing said.
        duplicate_of: id of an earlier candidate with the same source, None if it is new.
    """

    id: int
    source: str
    hash: str
    parent: int | None
    step: int
    version: int
    report: SuiteReport
    duplicate_of: int | None = None

    @property
    def heuristic(self) -> float:
        """Average pass rate of the unit tests."""
        return self.report.heuristic

    @property
    def status(self) -> Status:
        """`rejected` (static check), `broken` (did not load), `tested`, or `passed` (every test)."""
        if self.report.outcome is Outcome.REFUSED_STATIC:
            return "rejected"
        if self.report.outcome is not Outcome.OK:
            return "broken"
        return "passed" if self.report.passes else "tested"

    def rank(self) -> tuple[float, int]:
        """Returns a key: the better candidate has the larger one; on ties the earlier candidate."""
        return (self.heuristic, -self.id)
