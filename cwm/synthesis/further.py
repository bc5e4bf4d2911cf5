"""Further rounds of a synthesis: a program that passes every test is tried where players go with it.

A few random games show little of what a planner visits. So once a program passes, games are played with it, on the
program itself and on the true game; what it gets wrong there becomes part of the tests, and refinement goes on. Who
plays, and on what, is for the caller to say: here are only the terms on which both sides meet.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeAlias

from cwm.suite.types import UnitTest
from cwm.synthesis.candidate import Candidate, SuiteReport, Tester, count_results
from cwm.synthesis.task import SynthesisTask

SHOWN_TESTS = 5


@dataclass(frozen=True)
class Found:
    """What further games showed of one program.

    Attributes:
        tests: those to be added, each of which the program fails; () if it fails none.
        games: played games by who played them.
        tested: tests made of these games, by kind.
        failed: tests that the program failed, by kind; they may be more than were added.
    """

    tests: tuple[UnitTest, ...] = ()
    games: Mapping[str, int] = field(default_factory=dict)
    tested: Mapping[str, int] = field(default_factory=dict)
    failed: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Returns everything as JSON, the tests whole."""
        return {
            "tests": [asdict(test) for test in self.tests],
            "games": dict(self.games),
            "tested": dict(self.tested),
            "failed": dict(self.failed),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Found":
        """Returns what `to_json` wrote."""
        tests = tuple(UnitTest(**test) for test in data["tests"])
        return cls(tests, dict(data["games"]), dict(data["tested"]), dict(data["failed"]))


Search: TypeAlias = Callable[[Candidate, int], Found]
"""Plays games with a program that passes every test, in round 1, 2, …, and returns what it fails there. Deterministic
in the program and the round."""


@dataclass(frozen=True)
class Further:
    """What further rounds of a synthesis need.

    Attributes:
        rounds: at most so many; 0 for none.
        search: finds tests that a program fails.
        tester: makes a tester of all tests of a task.
    """

    rounds: int
    search: Search
    tester: Callable[[SynthesisTask], Tester]


@dataclass(frozen=True)
class Round:
    """One further round, for the record and the report.

    Attributes:
        number: from 1.
        program: hash of the program that played.
        calls: answers received before it.
        games: see `Found`.
        tested: see `Found`.
        failed: see `Found`.
        added: ids of the tests that were added.
    """

    number: int
    program: str
    calls: int
    games: Mapping[str, int]
    tested: Mapping[str, int]
    failed: Mapping[str, int]
    added: tuple[str, ...]

    @classmethod
    def of(cls, number: int, candidate: Candidate, calls: int, found: Found) -> "Round":
        """Returns what is told of a search."""
        added = tuple(test.id for test in found.tests)
        return cls(number, candidate.hash, calls, found.games, found.tested, found.failed, added)

    def to_json(self) -> dict[str, Any]:
        """Returns everything as JSON."""
        return {
            "number": self.number,
            "program": self.program,
            "calls": self.calls,
            "games": dict(self.games),
            "tested": dict(self.tested),
            "failed": dict(self.failed),
            "added": list(self.added),
        }

    def in_words(self) -> str:
        """Returns what the round showed, in one sentence."""
        return describe(self.games, self.tested, self.failed, self.added)


def describe(
    games: Mapping[str, int], tested: Mapping[str, int], failed: Mapping[str, int], added: tuple[str, ...]
) -> str:
    """Returns what further games showed, in one sentence; see `Found`."""
    played = ", ".join(f"{number} of {who}" for who, number in games.items())
    whole = f"{sum(games.values())} games ({played}), {sum(tested.values())} tests"
    if not failed:
        return f"{whole}, all passed"
    kinds = ", ".join(f"{kind} {number}" for kind, number in sorted(failed.items()))
    shown = ", ".join(added[:SHOWN_TESTS]) + (f" and {len(added) - SHOWN_TESTS} more" if added[SHOWN_TESTS:] else "")
    return f"{whole}, {sum(failed.values())} failed ({kinds}), added: {shown}"


def with_added(report: SuiteReport, added: tuple[UnitTest, ...], results: SuiteReport) -> SuiteReport:
    """Returns a program's report over the tests it was tested on and some more.

    Args:
        report: on the tests so far.
        added: further tests.
        results: the report on these alone; what it says beyond them, e.g. of the contract, is left out: a program is
            asked for that where it passes all tests.
    """
    counts = dict(report.counts)
    ids = {test.id for test in added}
    own = [result for result in results.results if result.id in ids]
    for kind, count in count_results([test.kind for test in added], own).items():
        known = counts.get(kind)
        numbers = asdict(count)
        if known is not None:
            numbers = {name: number + getattr(known, name) for name, number in numbers.items()}
        counts[kind] = type(count)(**numbers)
    seconds = report.seconds + results.seconds
    return replace(report, counts=counts, results=(*report.results, *own), seconds=seconds)
