"""How often a program is right: per kind of test and per field, with limits and failures of ours counted apart."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from math import log
from typing import Any

from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import Level, Outcome, ProgramSource
from cwm.suite.batches import Batches
from cwm.suite.build import BuildOptions, count, stream
from cwm.suite.execution import DEFAULT_OPTIONS, NOT_RUN, DoneCount, Progress, RunOptions, run_stream
from cwm.suite.types import UnitTest, UnitTestResult
from cwm.trajectories.recorded import Step, Trajectory
from games.api import TERMINAL

TIMEOUTS = (Outcome.WALL_TIMEOUT, Outcome.CPU_EXCEEDED)
_VERDICTS = {"pass": "passed", "fail": "wrong", "error": "errors"}
FINAL_SCORES = "final_scores"
"""The field `rewards` at terminal states, counted a second time by itself."""
KEPT_WHOLE = 50
"""So many failed tests are kept with all that was expected and answered; of the others the message is enough."""
MESSAGE_LENGTH = 300


@dataclass(frozen=True)
class ResultCounts:
    """Answers, counted. Failures of ours are in no denominator.

    Attributes:
        passed: right answers.
        wrong: wrong answers.
        errors: exceptions, deaths and values that are no JSON.
        timeouts: no answer within the time allowed.
        not_run: left out, because the program ran out of time or died too often before.
        ours: failures of the sandbox or of this package.
    """

    passed: int = 0
    wrong: int = 0
    errors: int = 0
    timeouts: int = 0
    not_run: int = 0
    ours: int = 0

    @property
    def scored(self) -> int:
        """Questions that count."""
        return self.passed + self.wrong + self.errors + self.timeouts + self.not_run

    @property
    def accuracy(self) -> float | None:
        """Share of right answers among all questions that count; None if there are none."""
        return self.passed / self.scored if self.scored else None

    @property
    def accuracy_of_answers(self) -> float | None:
        """Share of right answers among the answers; errors and timeouts are none. None if there are no answers."""
        answers = self.passed + self.wrong
        return self.passed / answers if answers else None

    def to_json(self) -> dict[str, Any]:
        """Returns the counts and both accuracies."""
        return asdict(self) | {"accuracy": self.accuracy, "accuracy_of_answers": self.accuracy_of_answers}


LIKELIHOOD_GAP = "likelihood_gap"
"""Key of the gap among the figures of an evaluation."""
_MOST_LIKELY = 1.0 + 1e-9
"""Sums of probabilities may exceed 1 by so much, by rounding."""


@dataclass(frozen=True)
class LikelihoodGap:
    """How much less likely a program with a joint step makes what was recorded than the true rules do, where anything
    was drawn. The program is in the state to which the recorded draws led it.

    Attributes:
        steps: starts and steps that the program makes possible.
        nats: sum over these of the log-likelihood by the true rules, less that by the program.
        impossible: those that it makes impossible; in no mean.
        failed: those in which it failed.
        unknown: those that it makes possible and whose probability by the true rules nobody knows; in no mean.
    """

    steps: int = 0
    nats: float = 0.0
    impossible: int = 0
    failed: int = 0
    unknown: int = 0

    @property
    def mean(self) -> float | None:
        """Nats a start or step, None without any. By chance it may be below 0, over many it is not."""
        return self.nats / self.steps if self.steps else None

    def plus(self, test: UnitTest, result: UnitTestResult) -> "LikelihoodGap":
        """Returns the gap with one more test of kind `distribution` and its result."""
        # The worker's answer may be forged: of it only the program's own probability is taken, and only if it is one.
        wanted: Any = test.data["probability"]
        known = wanted is not None and wanted > 0.0
        if result.status == "pass":
            return replace(self, steps=self.steps + 1) if known else replace(self, unknown=self.unknown + 1)
        got: Any = result.got.get("probability") if isinstance(result.got, dict) else None
        if result.status == "error" or not isinstance(got, float) or not 0.0 <= got <= _MOST_LIKELY:
            return replace(self, failed=self.failed + 1)
        if got == 0.0:
            return replace(self, impossible=self.impossible + 1)
        if not known:
            return replace(self, unknown=self.unknown + 1)
        # Their quotient may be too large for a float.
        return replace(self, steps=self.steps + 1, nats=self.nats + log(wanted) - log(got))

    def to_json(self) -> dict[str, Any]:
        """Returns the counts; `unknown` where there are any."""
        return {name: value for name, value in asdict(self).items() if value or name != "unknown"}

    def in_words(self) -> str:
        """Returns the gap for a report."""
        mean = "–" if self.mean is None else f"{self.mean:.4f}"
        words = f"{mean} nats a step over {self.steps:,}; {self.impossible:,} impossible, {self.failed:,} failed"
        return words + (f", {self.unknown:,} of unknown probability" if self.unknown else "")


@dataclass(frozen=True)
class Evaluation:
    """How a program did on a set of tests.

    Attributes:
        level: isolation level that it ran at.
        kinds: by kind of test.
        fields: by field of the transition tests, `final_scores` apart.
        transitions: recorded transitions in the set.
        distinct_states: different recorded states.
        failed: results of the tests that did not pass, in the order of the tests; only the first `KEPT_WHOLE` whole.
        likelihood_gap: of a program with a joint step, None for others.
    """

    level: Level
    kinds: Mapping[str, ResultCounts]
    fields: Mapping[str, ResultCounts]
    transitions: int
    distinct_states: int
    failed: tuple[UnitTestResult, ...]
    likelihood_gap: LikelihoodGap | None = None

    def accuracy(self, kind: str) -> float | None:
        """Returns the accuracy of one kind of test, None if there was none."""
        tally = self.kinds.get(kind)
        return tally.accuracy if tally else None

    def to_json(self) -> dict[str, Any]:
        """Returns everything but the failed tests, of which only the ids are kept."""
        return {
            "level": self.level,
            "kinds": {name: tally.to_json() for name, tally in self.kinds.items()},
            "fields": {name: tally.to_json() for name, tally in self.fields.items()},
            "transitions": self.transitions,
            "distinct_states": self.distinct_states,
            "failed": [result.id for result in self.failed],
            **({} if self.likelihood_gap is None else {LIKELIHOOD_GAP: self.likelihood_gap.to_json()}),
        }


def evaluate(
    program: ProgramSource,
    trajectories: Sequence[Trajectory],
    sandbox: Sandbox,
    tests: BuildOptions,
    options: RunOptions = DEFAULT_OPTIONS,
    progress: Progress | None = None,
    batches: Batches | None = None,
) -> Evaluation:
    """Runs the tests of some recorded games on a program and counts.

    Args:
        program: what is evaluated.
        trajectories: recorded games: the training games, held-out ones, or those of a search.
        sandbox: where the program runs.
        tests: which tests are made of the games.
        options: how they are run.
        progress: told after every test.
        batches: keeps results as they come, so that the same call goes on after a kill; None for nowhere.

    Raises:
        SandboxUnavailableError: no worker can be started.
        RunStorageError: a batch cannot be stored.
    """
    report = DoneCount(count(trajectories, tests) if progress else 0, progress)
    counts = Counts()
    suite = stream(trajectories, tests)
    with closing(run_stream(program, suite, sandbox, options, report.add, batches)) as done:
        for chunk, results in done:
            counts.add(chunk, results)
    return counts.evaluation(trajectories, sandbox.level)


class Counts:
    """Counts results as they come; of tests that passed nothing else is kept."""

    def __init__(self) -> None:
        self._kinds: dict[str, Counter[str]] = {}
        self._fields: dict[str, Counter[str]] = {}
        self._failed: list[UnitTestResult] = []
        self._gap: LikelihoodGap | None = None

    def add(self, tests: Sequence[UnitTest], results: Sequence[UnitTestResult]) -> None:
        """Counts one result a test."""
        for test, result in zip(tests, results, strict=True):
            self._kinds.setdefault(test.kind, Counter())[_class(result)] += 1
            for name, verdict in _field_classes(test, result):
                self._fields.setdefault(name, Counter())[verdict] += 1
            if test.kind == "distribution" and not result.outcome.is_ours:
                self._gap = (self._gap or LikelihoodGap()).plus(test, result)
            if result.status != "pass":
                self._failed.append(result if len(self._failed) < KEPT_WHOLE else _shortened(result))

    def evaluation(self, trajectories: Sequence[Trajectory], level: Level) -> Evaluation:
        """Returns the counts with what the games hold."""
        transitions = 0
        states: set[bytes] = set()
        for trajectory in trajectories:
            transitions += _transitions(trajectory)
            states.update(_digest(step) for step in trajectory.steps if step.state is not None)
        return Evaluation(
            level=level,
            kinds={name: ResultCounts(**counts) for name, counts in self._kinds.items()},
            fields={name: ResultCounts(**counts) for name, counts in self._fields.items()},
            transitions=transitions,
            distinct_states=len(states),
            failed=tuple(self._failed),
            likelihood_gap=self._gap,
        )


def _shortened(result: UnitTestResult) -> UnitTestResult:
    message = result.message[:MESSAGE_LENGTH]
    return replace(result, expected=None, got=None, message=message, output_tail="", traceback="")


def _digest(step: Step) -> bytes:
    return hashlib.blake2b(json.dumps(step.state, sort_keys=True).encode(), digest_size=16).digest()


def _transitions(trajectory: Trajectory) -> int:
    return sum(step.action is not None for step in trajectory.steps)


def _class(result: UnitTestResult) -> str:
    """Returns the attribute of `ResultCounts` that a result counts under."""
    if result.outcome.is_ours:
        return "ours"
    if result.field == NOT_RUN:
        return "not_run"
    if result.outcome in TIMEOUTS:
        return "timeouts"
    return _VERDICTS[result.status]


def _field_classes(test: UnitTest, result: UnitTestResult) -> Iterable[tuple[str, str]]:
    """Yields (field, attribute of `ResultCounts`) of a transition test; a death counts against every field of it."""
    if test.kind not in ("transition", "step"):
        return
    verdicts = {name: _VERDICTS[status] for name, status in result.fields.items()}
    for name, verdict in (verdicts or dict.fromkeys(_asked(test), _class(result))).items():
        yield name, verdict
        if name == "rewards" and test.data.get("player") == TERMINAL:
            yield FINAL_SCORES, verdict


def _asked(test: UnitTest) -> list[str]:
    if test.kind == "step":
        return ["observations", "active", "legal_actions", *(["rewards", "over"] if test.data["actions"] else [])]
    names = ["current_player", "player_name", "rewards", "observations", "legal_actions", "chance_outcomes"]
    return names if test.data["action"] is None else [*names, "next_state"]
