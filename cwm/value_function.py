"""Value functions: several one-shot candidates, checked, then chosen by a tournament on the model itself.

There is no truth to refine against (the CWM paper, 4.3), so nothing is refined: what plays best stays. "None", which
means random rollouts at the leaves, is always among the candidates.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias

from cwm import api_text, templates
from cwm.answers import programs
from cwm.llm.api import BudgetExceededError, Completion, LanguageModel, Message, Request
from cwm.program_api import VALUE_FUNCTION
from cwm.record import RunRecord, content_key, program_hash
from cwm.sandbox import static_check
from cwm.sandbox.static_check import ALLOWED_MODULES
from cwm.synthesis_events import Event, OnEvent, ignore
from cwm.value_task import ValueConfig, ValueConfigError, ValueTask

__all__ = [
    "Tournament",
    "ValueCandidate",
    "ValueChecker",
    "ValueChosen",
    "ValueConfig",
    "ValueConfigError",
    "ValueReport",
    "ValueResult",
    "ValueTask",
    "ValueTested",
    "prompt",
    "synthesize_values",
]

STREAM = "value"
"""Name of the event stream in a run record."""
PURPOSE = "value"

ValueStatus: TypeAlias = Literal["checked", "rejected", "failed", "slow", "no_program", "duplicate"]


@dataclass(frozen=True)
class ValueReport:
    """What checking said of one value function.

    Attributes:
        problems: one line each; empty if every check passed.
        calls_per_s: measured speed, None if it could not be.
        checked: states on which it was checked.
    """

    problems: tuple[str, ...]
    calls_per_s: float | None = None
    checked: int = 0


@dataclass(frozen=True)
class ValueCandidate:
    """One value function.

    Attributes:
        id: number of its call, from 0.
        source: the code, "" if the answer held none.
        hash: SHA-256 of the source, "" if there is none.
        status: `checked` (takes part in the tournament) or why not.
        report: what checking said.
        score: in the tournament, None if it did not take part.
    """

    id: int
    source: str
    hash: str
    status: ValueStatus
    report: ValueReport
    score: float | None = None


@dataclass(frozen=True)
class ValueTested(Event):
    """A value function was checked."""

    kind = "value_tested"
    candidate: int
    status: str
    hash: str
    problems: tuple[str, ...]
    calls_per_s: float | None


@dataclass(frozen=True)
class ValueChosen(Event):
    """The tournament is over; `chosen` is None if random rollouts stay."""

    kind = "value_chosen"
    chosen: int | None
    scores: tuple[tuple[int | None, float], ...]


@dataclass(frozen=True)
class ValueResult:
    """What came of it.

    Attributes:
        best: the winner, None if random rollouts play at least as well.
        candidates: all, in order of their calls.
        none_score: what random rollouts scored, None if no tournament was needed.
        calls: answers received.
        input_tokens: in all.
        output_tokens: in all.
        message: how it ended, in words.
    """

    best: ValueCandidate | None
    candidates: tuple[ValueCandidate, ...]
    none_score: float | None
    calls: int
    input_tokens: int
    output_tokens: int
    message: str

    def to_json(self) -> dict[str, Any]:
        """Returns the result without sources, which the run record holds by hash."""
        return {
            "best": None if self.best is None else self.best.hash,
            "candidates": [
                {key: value for key, value in asdict(item).items() if key != "source"} for item in self.candidates
            ],
            "none_score": self.none_score,
            "calls": self.calls,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "message": self.message,
        }


ValueChecker: TypeAlias = Callable[[Sequence[str]], list[ValueReport]]
"""Checks value functions on the model, each on its own: floats, rewards at the end, the same twice, speed."""

Tournament: TypeAlias = Callable[[list[ValueCandidate | None]], list[float]]
"""Lets planners with these value functions play each other on the model; None plays with random rollouts.

Returns one score each, larger is better, a function of the candidates and a seed alone.
"""


def prompt(task: ValueTask) -> str:
    """Returns the prompt for one value function."""
    return templates.render(
        "value",
        rules=task.rules,
        player_names=task.info.player_names,
        source=task.source,
        interface=api_text.render((VALUE_FUNCTION,)),
        min_utility=task.info.min_utility,
        max_utility=task.info.max_utility,
        utility=task.info.utility,
        allowed_modules=sorted(ALLOWED_MODULES),
        tests=task.tests_text,
    )


def synthesize_values(
    task: ValueTask,
    config: ValueConfig,
    model: LanguageModel,
    checker: ValueChecker,
    tournament: Tournament,
    record: RunRecord | None = None,
    on_event: OnEvent = ignore,
) -> ValueResult:
    """Asks for value functions and chooses one, or none.

    Args:
        task: rules, model, tests.
        config: settings.
        model: as the caller composed it.
        checker: checks candidates, see `cwm.value_checking.ProcessValueChecker`.
        tournament: plays candidates against each other and against "none".
        record: where programs, scores and events are kept.
        on_event: told of everything that happens.

    Raises:
        LanguageModelError: a call failed for good (other than by a budget's cap).
        TesterError: candidates could not be checked through no fault of theirs.
        RunRecordError: the record cannot be written.
    """
    return _Values(task, config, model, checker, tournament, record, on_event).run()


class _Values:
    """The state of one choice."""

    def __init__(
        self,
        task: ValueTask,
        config: ValueConfig,
        model: LanguageModel,
        checker: ValueChecker,
        tournament: Tournament,
        record: RunRecord | None,
        on_event: OnEvent,
    ) -> None:
        self._task = task
        self._config = config
        self._model = model
        self._checker = checker
        self._tournament = tournament
        self._record = record
        self._on_event = on_event
        self._completions: list[Completion] = []
        self._events = 0

    def run(self) -> ValueResult:
        candidates: list[ValueCandidate] = []
        message = f"{self._config.num_candidates} value functions were asked for"
        try:
            for number in range(self._config.num_candidates):
                candidates.append(self._candidate(number, self._ask(), candidates))
        except BudgetExceededError as error:
            message = str(error)
        return self._choose(candidates, message)

    def _ask(self) -> Completion:
        cap = self._config.max_output_tokens
        text = prompt(self._task)
        for attempt in range(1 + self._config.max_truncated_retries):
            request = Request((Message("user", text),), PURPOSE, cap, temperature=self._config.temperature)
            self._completions.append(self._model.complete(request))
            if self._completions[-1].outcome != "truncated" or attempt == self._config.max_truncated_retries:
                break
            cap = int(cap * self._config.truncated_growth)
        return self._completions[-1]

    def _candidate(self, number: int, answer: Completion, earlier: Sequence[ValueCandidate]) -> ValueCandidate:
        found = programs(answer.text, (VALUE_FUNCTION,), 1) if answer.outcome == "ok" else []
        if not found:
            problem = "no program in the answer" if answer.outcome == "ok" else f"the answer was {answer.outcome}"
            candidate = ValueCandidate(number, "", "", "no_program", ValueReport((problem,)))
        else:
            candidate = self._checked(number, found[0], earlier)
        self._emit(
            ValueTested(
                candidate=number,
                status=candidate.status,
                hash=candidate.hash,
                problems=candidate.report.problems,
                calls_per_s=candidate.report.calls_per_s,
            )
        )
        return candidate

    def _checked(self, number: int, source: str, earlier: Sequence[ValueCandidate]) -> ValueCandidate:
        digest = program_hash(source)
        twin = next((item for item in earlier if item.hash == digest), None)
        if twin is not None:
            return replace(twin, id=number, status="duplicate")
        problems = static_check.check(source, (VALUE_FUNCTION,))
        report = ValueReport(tuple(problems)) if problems else self._report(digest, source)
        status: ValueStatus = "checked"
        if problems:
            status = "rejected"
        elif report.problems:
            status = "failed"
        elif report.calls_per_s is not None and report.calls_per_s < self._config.min_calls_per_s:
            status = "slow"
        if self._record is not None:
            parent = program_hash(self._task.source)
            self._record.add_program(source, kind="value", parent=parent, metadata={"call": number})
        return ValueCandidate(number, source, digest, status, report)

    def _report(self, digest: str, source: str) -> ValueReport:
        """Returns the stored report or makes one: speed is measured once, so that a resumed run decides alike."""
        suite = content_key({"value": program_hash(self._task.source), "seed": self._config.seed})
        stored = self._record.test_report(digest, suite) if self._record is not None else None
        if stored is not None:
            return ValueReport(tuple(stored["problems"]), stored["calls_per_s"], stored["checked"])
        (report,) = self._checker([source])
        if self._record is not None:
            self._record.put_test_report(digest, suite, asdict(report))
        return report

    def _choose(self, candidates: list[ValueCandidate], message: str) -> ValueResult:
        entrants = [candidate for candidate in candidates if candidate.status == "checked"]
        best: ValueCandidate | None = None
        none_score: float | None = None
        if entrants:
            none_score, *scores = self._scores(entrants)
            scored = [replace(item, score=score) for item, score in zip(entrants, scores, strict=True)]
            by_id = {item.id: item for item in scored}
            candidates = [by_id.get(item.id, item) for item in candidates]
            # On ties the earlier candidate, and "none" before all: it costs no trust.
            leader = max(scored, key=lambda item: (item.score or 0.0, -item.id))
            if leader.score is not None and leader.score > none_score + self._config.margin:
                best = leader
            pairs = [(None, none_score), *((item.id, item.score or 0.0) for item in scored)]
            self._emit(ValueChosen(None if best is None else best.id, tuple(pairs)))
        else:
            message += "; none of them passed its checks"
        return ValueResult(
            best=best,
            candidates=tuple(candidates),
            none_score=none_score,
            calls=len(self._completions),
            input_tokens=sum(item.usage.input_tokens for item in self._completions),
            output_tokens=sum(item.usage.output_tokens for item in self._completions),
            message=message,
        )

    def _scores(self, entrants: list[ValueCandidate]) -> list[float]:
        """Returns the tournament's scores, "none" first; a finished tournament is not played again."""
        key = content_key(
            {"tournament": [item.hash for item in entrants], "model": program_hash(self._task.source)}
            | {"config": self._config.to_json()}
        )
        stored = self._record.evaluation(key) if self._record is not None else None
        if stored is not None:
            return [float(score) for score in stored["scores"]]
        scores = self._tournament([None, *entrants])
        if self._record is not None:
            self._record.put_evaluation(key, {"kind": "value_tournament", "scores": scores})
        return scores

    def _emit(self, event: Event) -> None:
        if self._record is not None:
            self._record.add_event(STREAM, self._events, event.kind, event.to_json())
        self._events += 1
        self._on_event(event)
