"""Rules and recorded games in, a tested program out: one driver for both refinement methods.

The driver is deterministic: the same task, settings and answers lead to the same prompts. To resume a run, run it again
on the same `RunRecord` with a `Journaled` model: stored answers and test results are served, and the first new call is
the one that the dead process would have made next.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from cwm.answers import programs
from cwm.candidate import Candidate, Tester, TestReport, unrun_report
from cwm.llm.api import BudgetExceededError, Completion, LanguageModel, Message, Request
from cwm.llm.budget import Price
from cwm.llm.tokens import estimate_request
from cwm.prompting import TaskPrompts
from cwm.record import RunRecord, program_hash
from cwm.refinement.api import Answer, Refiner, Step
from cwm.refinement.conversation import Conversation
from cwm.refinement.tree_search import TreeSearch
from cwm.sandbox import static_check
from cwm.sandbox.api import Outcome
from cwm.synthesis_config import SynthesisConfig
from cwm.synthesis_events import (
    AnswerReceived,
    CandidateTested,
    Event,
    Finished,
    NodeChosen,
    OnEvent,
    PromptSent,
    ignore,
)
from cwm.synthesis_task import SynthesisTask, kinds

Reason: TypeAlias = Literal["all_tests_pass", "retries_used", "budget", "unanswered"]

STREAM = "synthesis"
"""Name of the event stream in a run record."""


@dataclass(frozen=True)
class SynthesisResult:
    """What a synthesis came to.

    Attributes:
        best: the candidate with the highest pass rate, None if no answer held a program.
        candidates: all of them, in order of appearance; `parent` makes them a tree.
        reason: `all_tests_pass`, `retries_used`, `budget` (a cap would have been passed) or `unanswered` (too many
            answers in a row held no program).
        message: the reason in words.
        calls: answers received, truncated, refused and empty ones too.
        input_tokens: in all.
        output_tokens: in all.
        curve: pass rate of the best candidate after each call, length `calls`.
        suite: key of the tests, under which the run record holds each program's report.
    """

    best: Candidate | None
    candidates: tuple[Candidate, ...]
    reason: Reason
    message: str
    calls: int
    input_tokens: int
    output_tokens: int
    curve: tuple[float, ...]
    suite: str

    @property
    def accuracy(self) -> dict[str, float]:
        """Share of passed training tests by kind, of the best candidate; {} if there is none."""
        return {} if self.best is None else self.best.report.pass_rates()

    def to_json(self) -> dict[str, Any]:
        """Returns the result without sources and single test results, which the run record holds by hash."""
        return {
            "best": None if self.best is None else self.best.hash,
            "accuracy": self.accuracy,
            "reason": self.reason,
            "message": self.message,
            "calls": self.calls,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "curve": list(self.curve),
            "suite": self.suite,
            "tree": [tree_entry(candidate) for candidate in self.candidates],
        }


def tree_entry(candidate: Candidate) -> Mapping[str, Any]:
    """Returns one candidate's place in the tree as JSON."""
    return {
        "id": candidate.id,
        "hash": candidate.hash,
        "parent": candidate.parent,
        "step": candidate.step,
        "version": candidate.version,
        "status": candidate.status,
        "heuristic": candidate.heuristic,
        "pass_rates": candidate.report.pass_rates(),
        "duplicate_of": candidate.duplicate_of,
    }


@dataclass(frozen=True)
class DryRun:
    """What the first call would be.

    Attributes:
        prompt: its text in full.
        input_tokens: estimated.
        max_output_tokens: the answer's cap.
        first_call_cost: at most so much money, None without a price.
        most_calls: calls that the settings allow at most.
    """

    prompt: str
    input_tokens: int
    max_output_tokens: int
    first_call_cost: float | None
    most_calls: int


def dry_run(task: SynthesisTask, config: SynthesisConfig, price: Price | None = None) -> DryRun:
    """Returns the first prompt and its estimated size and cost; calls no model and runs no program."""
    prompt = TaskPrompts(task, config).synthesis()
    tokens = estimate_request(Request((Message("user", prompt),), task.purpose))
    return DryRun(
        prompt=prompt,
        input_tokens=tokens,
        max_output_tokens=config.max_output_tokens,
        first_call_cost=None if price is None else price.cost(tokens, config.max_output_tokens),
        most_calls=(1 + config.num_retries) * (1 + config.max_truncated_retries),
    )


def synthesize(
    task: SynthesisTask,
    config: SynthesisConfig,
    model: LanguageModel,
    tester: Tester,
    record: RunRecord | None = None,
    on_event: OnEvent = ignore,
) -> SynthesisResult:
    """Asks for programs and refines them until every training test passes or a limit is reached.

    Args:
        task: rules, interface, tests.
        config: settings.
        model: as the caller composed it, e.g. `Journaled(Budgeted(Retrying(provider), budget), record.calls)`.
        tester: tests programs, see `cwm.candidate_testing.ProcessTester`.
        record: where programs, test results and events are kept, None for nowhere.
        on_event: told of everything that happens, in order; on a resumed run of what is served again, too.

    Returns:
        The best program so far, whatever ended the synthesis.

    Raises:
        LanguageModelError: a call failed for good (other than by a budget's cap).
        TesterError: programs could not be tested through no fault of theirs.
        RunRecordError: the record cannot be written.
    """
    return _Synthesis(task, config, model, tester, record, on_event).run()


class _Synthesis:
    """The state of one synthesis."""

    def __init__(
        self,
        task: SynthesisTask,
        config: SynthesisConfig,
        model: LanguageModel,
        tester: Tester,
        record: RunRecord | None,
        on_event: OnEvent,
    ) -> None:
        self._task = task
        self._config = config
        self._model = model
        self._tester = tester
        self._record = record
        self._on_event = on_event
        writer = TaskPrompts(task, config)
        methods: dict[str, type[TreeSearch] | type[Conversation]] = {
            "tree_search": TreeSearch,
            "conversation": Conversation,
        }
        self._refiner: Refiner = methods[config.method](writer, config)
        self._suite = task.suite_hash(
            {"test_seconds": config.test_seconds, "total_seconds": config.total_seconds, "seed": config.seed}
            | {"max_timeouts": config.max_timeouts, "level": record.info.sandbox_level if record else None}
        )
        self._candidates: list[Candidate] = []
        self._curve: list[float] = []
        self._input_tokens = 0
        self._output_tokens = 0
        self._events = 0

    def run(self) -> SynthesisResult:
        unanswered = 0
        try:
            for step_number in range(1 + self._config.num_retries):
                answered = self._step(step_number)
                best = self._best()
                if best is not None and best.status == "passed":
                    return self._finish("all_tests_pass", "every training test passes")
                unanswered = 0 if answered else unanswered + 1
                if unanswered >= self._config.max_unanswered:
                    return self._finish("unanswered", f"{unanswered} answers in a row held no program")
        except BudgetExceededError as error:
            return self._finish("budget", str(error))
        return self._finish("retries_used", f"{self._config.num_retries} refinement steps were made")

    def _step(self, number: int) -> bool:
        """Makes one refinement step; returns whether its answer held a program."""
        step = self._refiner.propose()
        self._emit(NodeChosen(number, None if step.parent is None else step.parent.id, step.draws))
        answer = self._ask(number, step)
        candidates = self._candidates_of(number, step, answer.programs)
        self._refiner.observe(step, answer, candidates)
        best = self._best()
        if best is not None:
            self._curve[-1] = best.heuristic
        return bool(candidates)

    def _ask(self, number: int, step: Step) -> Answer:
        """Makes the step's one call; a truncated answer is asked for again with a larger cap."""
        cap = self._config.max_output_tokens
        attempt = 1
        while True:
            completion = self._call(number, step, attempt, cap)
            answer = self._read(completion)
            self._emit(
                AnswerReceived(
                    step=number,
                    call=len(self._curve),
                    outcome=completion.outcome,
                    model=completion.model,
                    num_programs=len(answer.programs),
                    input_tokens=completion.usage.input_tokens,
                    output_tokens=completion.usage.output_tokens,
                    latency_s=completion.latency_s,
                )
            )
            if answer.kind != "truncated" or attempt > self._config.max_truncated_retries:
                return answer
            attempt += 1
            cap = int(cap * self._config.truncated_growth)

    def _call(self, number: int, step: Step, attempt: int, cap: int) -> Completion:
        characters = sum(len(message.text) for message in step.messages)
        call = len(self._curve) + 1
        self._emit(PromptSent(number, call, attempt, self._task.purpose, characters, cap))
        completion = self._model.complete(
            Request(step.messages, self._task.purpose, cap, temperature=self._config.temperature)
        )
        best = self._best()
        self._curve.append(0.0 if best is None else best.heuristic)
        self._input_tokens += completion.usage.input_tokens
        self._output_tokens += completion.usage.output_tokens
        return completion

    def _read(self, completion: Completion) -> Answer:
        if completion.outcome != "ok":
            return Answer(completion.outcome, completion)
        found = programs(completion.text, self._task.functions, self._config.programs_per_answer)
        return Answer("programs" if found else "no_program", completion, tuple(found))

    def _candidates_of(self, number: int, step: Step, sources: Sequence[str]) -> list[Candidate]:
        known = {candidate.hash: candidate for candidate in reversed(self._candidates)}
        reports = self._reports([source for source in sources if program_hash(source) not in known])
        parent = None if step.parent is None else step.parent.id
        made: list[Candidate] = []
        for version, source in enumerate(sources, start=1):
            digest = program_hash(source)
            twin = known.get(digest)
            candidate = Candidate(
                id=len(self._candidates),
                source=source,
                hash=digest,
                parent=parent,
                step=number,
                version=version,
                report=reports[digest] if twin is None else twin.report,
                duplicate_of=None if twin is None else twin.id,
            )
            self._candidates.append(candidate)
            made.append(candidate)
            self._keep(candidate, step.parent)
        return made

    def _reports(self, sources: Sequence[str]) -> dict[str, TestReport]:
        """Returns reports by hash: stored ones, static rejections, and those of the tester for all others."""
        reports: dict[str, TestReport] = {}
        untested: list[str] = []
        for source in sources:
            digest = program_hash(source)
            stored = self._record.test_report(digest, self._suite) if self._record is not None else None
            problems = (
                [] if stored is not None else static_check.check(source, self._task.functions, self._task.interface)
            )
            if stored is not None:
                reports[digest] = TestReport.from_json(stored)
            elif problems:
                reports[digest] = unrun_report(kinds(self._task.tests), Outcome.REFUSED_STATIC, problems)
            else:
                untested.append(source)
        for source, report in zip(untested, self._tester(untested) if untested else [], strict=True):
            reports[program_hash(source)] = report
        return reports

    def _keep(self, candidate: Candidate, parent: Candidate | None) -> None:
        if self._record is not None and candidate.duplicate_of is None:
            metadata = {"method": self._config.method, "step": candidate.step, "version": candidate.version}
            self._record.add_program(
                candidate.source, parent=None if parent is None else parent.hash, metadata=metadata
            )
            self._record.put_test_report(candidate.hash, self._suite, candidate.report.to_json())
        self._emit(
            CandidateTested(
                step=candidate.step,
                candidate=candidate.id,
                parent=candidate.parent,
                hash=candidate.hash,
                status=candidate.status,
                heuristic=candidate.heuristic,
                pass_rates=candidate.report.pass_rates(),
                problems=candidate.report.problems,
                duplicate_of=candidate.duplicate_of,
            )
        )

    def _best(self) -> Candidate | None:
        return max(self._candidates, key=Candidate.rank, default=None)

    def _finish(self, reason: Reason, message: str) -> SynthesisResult:
        result = SynthesisResult(
            best=self._best(),
            candidates=tuple(self._candidates),
            reason=reason,
            message=message,
            calls=len(self._curve),
            input_tokens=self._input_tokens,
            output_tokens=self._output_tokens,
            curve=tuple(self._curve),
            suite=self._suite,
        )
        self._emit(
            Finished(
                reason=reason,
                message=message,
                best=None if result.best is None else result.best.id,
                heuristic=0.0 if result.best is None else result.best.heuristic,
                calls=result.calls,
                input_tokens=result.input_tokens,
                output_tokens=result.output_tokens,
            )
        )
        return result

    def _emit(self, event: Event) -> None:
        if self._record is not None:
            self._record.add_event(STREAM, self._events, event.kind, event.to_json())
        self._events += 1
        self._on_event(event)
