"""Speed refinement: a program that passes every test is profiled under the planner, and a faster version asked for.

A version takes the program's place only if it passes every test, answers as the program in place does along random
games, and lets the planner run more simulations a second by more than noise. Everything measured is stored before it
decides anything, so that a resumed run decides alike and repeats no call.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal, TypeAlias

from cwm.interface.answers import programs
from cwm.llm.api import BudgetExceededError, Completion, LanguageModel
from cwm.llm.truncation import CountedQuestions
from cwm.record.record import RunRecord
from cwm.sandbox.parent import static_check
from cwm.sandbox.wire.api import Outcome
from cwm.speed.prompt import faster
from cwm.speed.task import Rates, SpeedConfig, SpeedProfile, SpeedTask, is_faster, median_ratio
from cwm.storage.keys import content_key, program_hash
from cwm.suite.failure_groups import grouped, listing
from cwm.suite.types import UnitTest
from cwm.synthesis.candidate import SuiteReport, Tester
from cwm.synthesis.config import SynthesisConfig
from cwm.synthesis.events import Event, OnEvent, ignore
from cwm.synthesis.prompts import TaskPrompts

STREAM = "faster"
"""Name of the event stream in a run record, purpose of the calls, kind of the stored programs."""

Status: TypeAlias = Literal["kept", "not_faster", "wrong", "broken", "rejected", "duplicate", "no_program"]

Profiler: TypeAlias = Callable[[str], SpeedProfile]
"""Profiles a program under the planner."""
Comparison: TypeAlias = Callable[[str, str], list[str]]
"""Returns where the functions beside a program answer otherwise beside another one, [] if nowhere."""
Stopwatch: TypeAlias = Callable[[str, str], list[Rates]]
"""Times searches on an old and a new program in turn, and returns the rates of each pair."""


@dataclass(frozen=True)
class SpeedTools:
    """What measures and tests programs; all of it runs them in workers.

    Attributes:
        profiler: says where the time goes.
        tests: every test that a version must pass: those of the synthesis, of further games, and of the random games
            of the program in place.
        tester: runs them.
        comparison: compares what stands beside the programs.
        stopwatch: times them.
    """

    profiler: Profiler
    tests: tuple[UnitTest, ...]
    tester: Tester
    comparison: Comparison
    stopwatch: Stopwatch


@dataclass(frozen=True)
class SpeedCandidate:
    """One version.

    Attributes:
        id: number of the call that brought it, from 0.
        hash: SHA-256 of the source, "" if the answer held none.
        status: `kept`, or why not.
        problems: what is wrong with it, one line each.
        pairs: simulations a second of the program in place and of this one, in turn; () if it was not timed.
    """

    id: int
    hash: str
    status: Status
    problems: tuple[str, ...] = ()
    pairs: tuple[Rates, ...] = ()

    @property
    def ratio(self) -> float | None:
        """Median of the pairs' ratios, None if it was not timed."""
        return median_ratio(self.pairs) if self.pairs else None

    def in_words(self) -> str:
        """Returns what became of it, in one sentence."""
        speed = "" if self.ratio is None else f" ({self.ratio:.2f} times the simulations a second)"
        what = {
            "kept": "it was right and faster, and is the module as it stands",
            "not_faster": "it was right, but not clearly faster",
            "wrong": "it was wrong",
            "broken": "it could not be loaded",
            "rejected": "it was not run",
            "duplicate": "it was the same as one before",
            "no_program": "the answer held no module",
        }[self.status]
        return f"Version {self.id + 1}: {what}{speed}" + "".join(f"; {problem}" for problem in self.problems)

    def to_json(self) -> dict[str, Any]:
        """Returns everything as JSON."""
        return asdict(self) | {"ratio": self.ratio, "pairs": [list(pair) for pair in self.pairs]}


@dataclass(frozen=True)
class SpeedResult:
    """What a speed refinement came to.

    Attributes:
        source: the program that stays, the old one or a faster version.
        candidates: the versions, in order of the calls.
        profile: of the program before the first call.
        calls: answers received.
        input_tokens: in all.
        output_tokens: in all.
        message: why it ended.
        capped: whether a cap on the calls ended it.
    """

    source: str
    candidates: tuple[SpeedCandidate, ...]
    profile: SpeedProfile
    calls: int
    input_tokens: int
    output_tokens: int
    message: str
    capped: bool = False

    @property
    def gain(self) -> float:
        """Simulations a second of the program that stays, as a multiple of the first one's: 1.0 if nothing was kept."""
        gain = 1.0
        for candidate in self.candidates:
            gain *= (candidate.ratio or 1.0) if candidate.status == "kept" else 1.0
        return gain

    def in_words(self) -> str:
        """Returns the result in one sentence."""
        kept = sum(candidate.status == "kept" for candidate in self.candidates)
        if kept:
            return f"{kept} of {len(self.candidates)} versions kept: {self.gain:.2f} times the simulations a second"
        states = ", ".join(candidate.status.replace("_", " ") for candidate in self.candidates)
        return f"the program stays as it was ({states or self.message})"

    def to_json(self) -> dict[str, Any]:
        """Returns everything as JSON; sources are in the run record, by hash."""
        return {
            "program": program_hash(self.source),
            "candidates": [candidate.to_json() for candidate in self.candidates],
            "profile": self.profile.to_json(),
            "gain": self.gain,
            "calls": self.calls,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "message": self.message,
        }


@dataclass(frozen=True)
class SpeedTested(Event):
    """A faster version was tried."""

    kind: ClassVar[str] = "speed_tested"
    candidate: int
    status: Status
    hash: str
    problems: tuple[str, ...]
    ratio: float | None


def refine_speed(
    asked: SpeedTask,
    config: SpeedConfig,
    synthesis: SynthesisConfig,
    model: LanguageModel,
    tools: SpeedTools,
    record: RunRecord | None = None,
    on_event: OnEvent = ignore,
) -> SpeedResult:
    """Asks for faster versions, each of the fastest program so far, and keeps those that are right and faster.

    Args:
        asked: the program in place, which passes every test.
        config: settings.
        synthesis: settings of the program's own synthesis, for the tests that prompts show.
        model: as the caller composed it.
        tools: profile, test, compare and time programs.
        record: where programs, measurements and events are kept.
        on_event: told of everything that happens.

    Raises:
        LanguageModelError: a call failed for good (other than by a budget's cap).
        TesterError: a version could not be tested through no fault of its own.
        RunRecordError: the record cannot be written.
    """
    return _SpeedRefinement(asked, config, synthesis, model, tools, record, on_event).run()


class _SpeedRefinement:
    """The state of one speed refinement."""

    def __init__(
        self,
        asked: SpeedTask,
        config: SpeedConfig,
        synthesis: SynthesisConfig,
        model: LanguageModel,
        tools: SpeedTools,
        record: RunRecord | None,
        on_event: OnEvent,
    ) -> None:
        self._asked = asked
        self._config = config
        self._prompts = TaskPrompts(asked.task, synthesis)
        self._questions = CountedQuestions(model, STREAM, config)
        self._tools = tools
        self._record = record or RunRecord.memory()
        self._on_event = on_event
        self._first = program_hash(asked.source)
        self._suite = content_key(
            {"faster": [asdict(test) for test in tools.tests], "seconds": synthesis.test_seconds, "seed": config.seed}
        )
        self._candidates: list[SpeedCandidate] = []

    def run(self) -> SpeedResult:
        asked = self._asked
        first = profile = self._profile(asked.source)
        message, capped = f"{self._config.num_candidates} versions were asked for", False
        try:
            for number in range(self._config.num_candidates):
                if self._candidates and self._candidates[-1].status == "kept":
                    profile = self._profile(asked.source)
                attempts = [candidate.in_words() for candidate in self._candidates]
                answer = self._questions.ask(faster(self._prompts, asked, profile, attempts))
                candidate, source = self._candidate(number, answer, asked.source)
                self._candidates.append(candidate)
                self._emit(candidate)
                if candidate.status == "kept":
                    asked = replace(asked, source=source)
        except BudgetExceededError as error:
            message, capped = str(error), True
        return SpeedResult(
            source=asked.source,
            candidates=tuple(self._candidates),
            profile=first,
            **self._questions.totals(),
            message=message,
            capped=capped,
        )

    def _candidate(self, number: int, answer: Completion, old: str) -> tuple[SpeedCandidate, str]:
        found = programs(answer.text, self._asked.task.functions, 1) if answer.outcome == "ok" else []
        if not found:
            why = () if answer.outcome == "ok" else (f"the answer was {answer.outcome}",)
            return SpeedCandidate(number, "", "no_program", why), ""
        source = found[0]
        digest = program_hash(source)
        if digest in {self._first, *(earlier.hash for earlier in self._candidates)}:
            return SpeedCandidate(number, digest, "duplicate"), source
        self._record.add_program(source, kind=STREAM, parent=program_hash(old), metadata={"call": number})
        status, problems = self._fault(source, digest, old)
        if status is not None:
            return SpeedCandidate(number, digest, status, problems), source
        pairs = self._pairs(old, source)
        kept = is_faster(pairs, self._config.min_gain)
        return SpeedCandidate(number, digest, "kept" if kept else "not_faster", (), pairs), source

    def _fault(self, source: str, digest: str, old: str) -> tuple[Status | None, tuple[str, ...]]:
        """Returns what is wrong with a version, (None, ()) if nothing is."""
        problems = static_check.check(source, self._asked.task.functions, self._asked.task.interface)
        if problems:
            return "rejected", tuple(problems)
        report = self._report(source, digest)
        if report.outcome is not Outcome.OK:
            return "broken", report.problems
        if not report.passes:
            failed = listing(grouped(self._tools.tests, report.results))
            first = next((result.message for result in report.results if result.status != "pass"), "")
            return "wrong", (*failed, *([f"e.g. {first}"] if first else []))
        differing = self._stored(["beside", program_hash(old), digest], lambda: self._tools.comparison(old, source))
        return ("wrong", tuple(differing)) if differing else (None, ())

    def _report(self, source: str, digest: str) -> SuiteReport:
        stored = self._record.report_in_order(digest, self._suite)
        if stored is not None:
            return SuiteReport.from_json(stored)
        (report,) = self._tools.tester([source])
        self._record.put_test_report(digest, self._suite, report.to_json())
        return report

    def _pairs(self, old: str, new: str) -> tuple[Rates, ...]:
        def measure() -> list[list[float]]:
            return [list(pair) for pair in self._tools.stopwatch(old, new)]

        return tuple(
            (before, after) for before, after in self._stored(["pairs", *map(program_hash, (old, new))], measure)
        )

    def _profile(self, source: str) -> SpeedProfile:
        # The prompt shows these figures: measured anew, a resumed run would ask another question.
        stored = self._stored(["profile", program_hash(source)], lambda: self._tools.profiler(source).to_json())
        return SpeedProfile.from_json(stored)

    def _stored(self, what: Sequence[str], make: Callable[[], Any]) -> Any:
        """Returns what the record holds of a measurement, or makes and stores it."""
        key = "/".join([STREAM, *what, content_key(self._config.measurement())[:16]])
        known = self._record.evaluation(key)
        if known is not None:
            return known["value"]
        value = make()
        self._record.put_evaluation(key, {"value": value})
        return value

    def _emit(self, candidate: SpeedCandidate) -> None:
        event = SpeedTested(candidate.id, candidate.status, candidate.hash, candidate.problems, candidate.ratio)
        self._record.add_event(STREAM, candidate.id, event.kind, event.to_json())
        self._on_event(event)
