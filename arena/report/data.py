"""What a report shows, as plain data: filled from a run record, drawn by `page` and `tables`."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from arena.matches.ratings import Standings


@dataclass(frozen=True)
class Accuracy:
    """One row of the accuracy table.

    Attributes:
        split: `train`, `test`, `online`, `planner`, … in the order of the table.
        kind: kind of unit test, e.g. `transition`, or one field of the transitions, see `field_of`.
        passed: right answers.
        failed: wrong answers.
        errors: exceptions, deaths and values that are no JSON.
        timeouts: no answer within the time allowed.
        not_run: left out, because the program ran out of time or died too often before.
    """

    split: str
    kind: str
    passed: int
    failed: int = 0
    errors: int = 0
    timeouts: int = 0
    not_run: int = 0

    @classmethod
    def of(cls, split: str, kind: str, tally: Mapping[str, int]) -> "Accuracy":
        """Returns the row of a `cwm.suite.evaluation.ResultCounts` as JSON."""
        names = ("passed", "wrong", "errors", "timeouts", "not_run")
        return cls(split, kind, *(tally[name] for name in names))

    @staticmethod
    def field_of(name: str) -> str:
        """Returns the `kind` of the row of a field of transition tests."""
        return f"transition: {name}"

    @property
    def is_field(self) -> bool:
        return self.kind.startswith(Accuracy.field_of(""))

    @property
    def total(self) -> int:
        return self.passed + self.failed + self.errors + self.timeouts + self.not_run

    @property
    def rate(self) -> float | None:
        """Returns the share of right answers among all tests, None where there are no tests."""
        return self.passed / self.total if self.total else None

    @property
    def rate_of_answers(self) -> float | None:
        """Returns the share of right answers among the answers, None where there are no answers."""
        answers = self.passed + self.failed
        return self.passed / answers if answers else None


@dataclass(frozen=True)
class FailedTest:
    """A unit test that a candidate failed; the texts are shown as they are."""

    id: str
    kind: str
    field: str = ""
    expected: str = ""
    got: str = ""
    message: str = ""


@dataclass(frozen=True)
class CandidateView:
    """A program of the synthesis.

    Attributes:
        id: number, from 0.
        parent: the candidate that it refines, None for a first program.
        call: number of the call whose answer holds it, None if unknown.
        status: `passed`, `tested`, `broken`, `rejected`.
        heuristic: share of unit tests passed.
        pass_rates: the same by kind of test.
        problems: why it was rejected or did not load.
        failing: some or all of the failed tests.
        failing_total: how many failed in all.
        chosen: whether it is the result.
        source: the program.
    """

    id: int
    parent: int | None
    call: int | None
    status: str
    heuristic: float
    pass_rates: Mapping[str, float] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    failing: tuple[FailedTest, ...] = ()
    failing_total: int = 0
    chosen: bool = False
    source: str = ""


@dataclass(frozen=True)
class FunctionView:
    """A function beside the model that took part in a choice, or the planner without one.

    Attributes:
        kind: `value function` or `policy prior`.
        name: the candidate's number, `none` or `uniform`.
        status: `checked`, `rejected`, `failed`, `slow`, `no_program`, `duplicate`; `baseline` without a candidate.
        problems: what its checks found.
        calls_per_s: its speed, None if not measured.
        score: in the tournament on the model, None if it did not take part.
        chosen: whether it won.
        source: the code, "" if there is none.
        strength: what it scored on deals that did not choose it; "" where none were played.
    """

    kind: str
    name: str
    status: str
    problems: tuple[str, ...] = ()
    calls_per_s: float | None = None
    score: float | None = None
    chosen: bool = False
    source: str = ""
    strength: str = ""


@dataclass(frozen=True)
class CallView:
    """One call to the language model.

    Attributes:
        number: from 1.
        purpose: e.g. `transition`.
        model: the model's own name.
        outcome: `ok`, `truncated`, `refused`, `empty`.
        messages: (role, text) of the request.
        answer: text of the answer.
        input_tokens: as counted by the provider or estimated.
        output_tokens: likewise.
        cost: money, None if unknown or free of charge (replay).
        seconds: wall-clock time, 0 on replay.
    """

    number: int
    purpose: str
    model: str
    outcome: str
    messages: tuple[tuple[str, str], ...]
    answer: str
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class UsageRow:
    """Calls, tokens and money of one purpose."""

    purpose: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None = None
    estimated: bool = False


@dataclass(frozen=True)
class ArenaView:
    """One tournament.

    Attributes:
        title: heading.
        table: standings, forfeits counted.
        table_without_forfeits: standings of the games played to their end; None if none was forfeited.
        settings: (name, value) to show above the table, e.g. deals, seed, planner settings, views.
        missing: games that could not be played through a fault of ours, by message, with counts.
        payoffs: lowest and highest return that the game can pay; None where nobody knows the game any more.
        note: what is said of the intervals of the tables; "" for nothing.
    """

    title: str
    table: Standings
    table_without_forfeits: Standings | None = None
    settings: tuple[tuple[str, str], ...] = ()
    missing: Mapping[str, int] = field(default_factory=dict)
    payoffs: tuple[float, float] | None = None
    note: str = ""


@dataclass(frozen=True)
class Replay:
    """A game to read, as text."""

    title: str
    text: str


@dataclass(frozen=True)
class ProgramView:
    """A program of the result.

    Attributes:
        title: `model`, `value function` or `policy prior`.
        source: Python.
        sha256: of the source.
        shared_run: longest run of tokens shared with this project's own source, None if not measured.
        program_tokens: tokens of the whole program.
        shared_with: file that holds the run, and its line.
        shared_text: the run.
    """

    title: str
    source: str
    sha256: str
    shared_run: int | None = None
    program_tokens: int = 0
    shared_with: str = ""
    shared_text: str = ""


@dataclass(frozen=True)
class SimilarityRow:
    """How much of one recorded program could have been copied.

    Attributes:
        sha256: of the program.
        kind: `model`, `value` or `prior`.
        chosen: whether it is part of the result.
        shared_run: longest run of tokens shared with this project's own source.
        program_tokens: tokens of the whole program.
        shared_with: file that holds the run, and its line; "" if none.
        shared_text: the run.
    """

    sha256: str
    kind: str
    chosen: bool
    shared_run: int
    program_tokens: int
    shared_with: str = ""
    shared_text: str = ""


@dataclass(frozen=True)
class ReportData:
    """A whole report.

    Attributes:
        title: heading of the page.
        game: registry id, or the name of a user's own game.
        created: date and time, as text.
        sandbox: level at which untrusted programs ran.
        summary: (name, value) of the figures to see first.
        notices: warnings, each a sentence.
        config: (name, value) of the run's settings and versions.
        accuracy: rows by split and kind.
        candidates: in order of appearance.
        calls: in order.
        usage: by purpose.
        arenas: tournaments.
        replays: sample games.
        programs: of the result.
        similarity: of every recorded program.
        functions: that were asked for beside the model.
        facts: (name, value) of what is fixed about the game.
        seen: (name, value) of what the language model was given, and of what was kept from it.
        rules: the text that it was given.
    """

    title: str
    game: str
    created: str
    sandbox: str
    summary: tuple[tuple[str, str], ...] = ()
    notices: tuple[str, ...] = ()
    config: tuple[tuple[str, str], ...] = ()
    accuracy: tuple[Accuracy, ...] = ()
    candidates: tuple[CandidateView, ...] = ()
    calls: tuple[CallView, ...] = ()
    usage: tuple[UsageRow, ...] = ()
    arenas: tuple[ArenaView, ...] = ()
    replays: tuple[Replay, ...] = ()
    programs: tuple[ProgramView, ...] = ()
    similarity: tuple[SimilarityRow, ...] = ()
    functions: tuple[FunctionView, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    seen: tuple[tuple[str, str], ...] = ()
    rules: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
