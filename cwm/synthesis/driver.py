"""Rules and recorded games in, a tested program out: one driver for both refinement methods.

The driver is deterministic: the same task, settings and answers lead to the same prompts. To resume a run, run it again
on the same `RunRecord` with a `Journaled` model: stored answers and test results are served, and the first new call is
the one that the dead process would have made next.
"""

from collections.abc import Sequence
from dataclasses import replace

from cwm.interface.answers import programs
from cwm.llm.api import BudgetExceededError, Completion, LanguageModel, ReplayMissError, Request
from cwm.llm.truncation import complete_whole
from cwm.record.record import RunRecord
from cwm.sandbox.parent import static_check
from cwm.sandbox.wire.api import Outcome
from cwm.storage.keys import program_hash
from cwm.synthesis.candidate import Candidate, SuiteReport, Tester, unrun_report
from cwm.synthesis.config import SynthesisConfig
from cwm.synthesis.conversation import Conversation
from cwm.synthesis.events import (
    AnswerReceived,
    CandidateTested,
    Event,
    Finished,
    FurtherTested,
    NodeChosen,
    OnEvent,
    PromptSent,
    ignore,
)
from cwm.synthesis.further import Found, Further, Round, with_added
from cwm.synthesis.prompts import TaskPrompts
from cwm.synthesis.refiner import Answer, RefinementStep, Refiner
from cwm.synthesis.result import Reason, SynthesisResult
from cwm.synthesis.task import SynthesisTask, kinds
from cwm.synthesis.tree_search import TreeSearch

STREAM = "synthesis"
"""Name of the event stream in a run record."""
BEFORE_ALL_STEPS = -1
"""Number of the step of a program that a synthesis starts from."""


def synthesize(
    task: SynthesisTask,
    config: SynthesisConfig,
    model: LanguageModel,
    tester: Tester,
    record: RunRecord | None = None,
    on_event: OnEvent = ignore,
    further: Further | None = None,
    start: str | None = None,
    stream: str = STREAM,
) -> SynthesisResult:
    """Asks for programs and refines them until every training test passes or a limit is reached.

    With `further`, games are then played with the program; tests of theirs that it fails are added to the others, and
    refinement goes on from it, with the retries and the budget that are left. Where it fails none, nothing is asked.

    Args:
        task: rules, interface, tests.
        config: settings.
        model: as the caller composed it, e.g. `Journaled(Budgeted(Retrying(provider), budget), record.calls)`.
        tester: tests programs, see `cwm.synthesis.testing.ProcessTester`.
        record: where programs, test results and events are kept, None for nowhere.
        on_event: told of everything that happens, in order; on a resumed run of what is served again, too.
        further: plays on with programs that pass, None for no further rounds.
        start: a program to refine; None to ask for a first one. If it passes every test, nothing is asked.
        stream: of the events in the record.

    Returns:
        The best program so far, whatever ended the synthesis.

    Raises:
        LanguageModelError: a call failed for good (other than by a budget's cap).
        TesterError: programs could not be tested through no fault of theirs.
        RunRecordError: the record cannot be written.
    """
    return _Synthesis(task, config, model, tester, record, on_event, further, stream).run(start)


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
        further: Further | None,
        stream: str,
    ) -> None:
        self._task = task
        self._config = config
        self._model = model
        self._tester = tester
        self._record = record or RunRecord.memory()
        self._on_event = on_event
        writer = TaskPrompts(task, config)
        methods: dict[str, type[TreeSearch] | type[Conversation]] = {
            "tree_search": TreeSearch,
            "conversation": Conversation,
        }
        self._refiner: Refiner = methods[config.method](writer, config)
        self._further = further
        self._stream = stream
        self._rounds: list[Round] = []
        self._suite = self._suite_of(task)
        self._candidates: list[Candidate] = []
        self._curve: list[float] = []
        self._input_tokens = 0
        self._output_tokens = 0
        self._events = 0
        self._last: Completion | None = None

    def run(self, start: str | None) -> SynthesisResult:
        unanswered = 0
        try:
            if start is not None and self._begins_done(start):
                return self._finish("all_tests_pass", "every training test passes")
            for step_number in range(1 + self._config.num_retries):
                answered = self._step(step_number)
                if self._is_done():
                    return self._finish("all_tests_pass", "every training test passes")
                unanswered = 0 if answered else unanswered + 1
                if unanswered >= self._config.max_unanswered:
                    return self._finish("unanswered", f"{unanswered} answers in a row held no program{self._lack()}")
        except BudgetExceededError as error:
            return self._finish("budget", str(error))
        except ReplayMissError:
            # A recording that was made without further rounds knows nothing of what they show; its program stands.
            if not any(done.added for done in self._rounds):
                raise
            return self._finish(
                "unanswered", "the recording ends before tests of further games, which the program fails"
            )
        return self._finish("retries_used", f"{self._config.num_retries} refinement steps were made")

    def _lack(self) -> str:
        """Returns what was wrong with the last answer, which held no program."""
        if self._last is not None and self._last.outcome != "ok":
            return f": the last one was {self._last.outcome}"
        return ": in the last one no block that starts with ```python was closed by ```"

    def _begins_done(self, start: str) -> bool:
        """Takes a program as the first candidate; returns whether there is nothing to refine."""
        (first,) = self._candidates_of(BEFORE_ALL_STEPS, RefinementStep((), None), [start])
        self._refiner.begin(first)
        return self._is_done()

    def _is_done(self) -> bool:
        """Tells whether a program passes every test and further games, while any may be played, show nothing else."""
        best = self._best()
        while best is not None and best.status == "passed":
            if self._further is None or len(self._rounds) >= self._further.rounds:
                return True
            if not self._added(best, self._further):
                return True
            best = self._best()
        return False

    def _added(self, passing: Candidate, further: Further) -> bool:
        """Plays one further round with a program; returns whether it brought tests."""
        number = len(self._rounds) + 1
        found = further.search(passing, number)
        done = Round.of(number, passing, len(self._curve), found)
        self._rounds.append(done)
        if found.tests:
            self._extend(found, further)
        self._emit(
            FurtherTested(number, passing.id, done.games, done.tested, done.failed, done.added, self._best_heuristic())
        )
        if found.tests:
            candidates = {candidate.id: candidate for candidate in self._candidates}
            self._refiner.retested(TaskPrompts(self._task, self._config), candidates, passing.id)
        return bool(found.tests)

    def _extend(self, found: Found, further: Further) -> None:
        """Adds tests to the suite and tests every program that runs at all on them."""
        alone = further.tester(replace(self._task, tests=found.tests))
        self._task = replace(self._task, tests=(*self._task.tests, *found.tests))
        self._tester = further.tester(self._task)
        self._suite = self._suite_of(self._task)
        own = [candidate for candidate in self._candidates if candidate.duplicate_of is None]
        running = [candidate for candidate in own if candidate.report.outcome is Outcome.OK]
        reports = {
            candidate.id: unrun_report(kinds(self._task.tests), candidate.report.outcome, candidate.report.problems)
            for candidate in own
        }
        untested: list[Candidate] = []
        for candidate in running:
            stored = self._record.report_in_order(candidate.hash, self._suite)
            if stored is None:
                untested.append(candidate)
            else:
                reports[candidate.id] = SuiteReport.from_json(stored)
        tested = alone([candidate.source for candidate in untested]) if untested else []
        for candidate, report in zip(untested, tested, strict=True):
            reports[candidate.id] = with_added(candidate.report, found.tests, report)
        self._candidates = [
            replace(item, report=reports[item.id if item.duplicate_of is None else item.duplicate_of])
            for item in self._candidates
        ]
        for candidate in own:
            self._record.put_test_report(candidate.hash, self._suite, reports[candidate.id].to_json())

    def _suite_of(self, task: SynthesisTask) -> str:
        config = self._config
        return task.suite_hash(
            {"test_seconds": config.test_seconds, "total_seconds": config.total_seconds, "seed": config.seed}
            | {"max_timeouts": config.max_timeouts, "level": self._record.info.sandbox_level}
        )

    def _step(self, number: int) -> bool:
        """Makes one refinement step; returns whether its answer held a program."""
        step = self._refiner.propose()
        self._emit(NodeChosen(number, None if step.parent is None else step.parent.id, step.draws))
        answer = self._ask(number, step)
        candidates = self._candidates_of(number, step, answer.programs)
        self._refiner.observe(step, answer, candidates)
        self._curve[-1] = self._best_heuristic()
        return bool(candidates)

    def _ask(self, number: int, step: RefinementStep) -> Answer:
        """Makes the step's one call; a truncated answer is asked for again with a larger cap."""
        answers: list[Answer] = []

        def call(request: Request) -> Completion:
            answers.append(self._call(number, len(answers) + 1, request))
            return answers[-1].completion

        complete_whole(call, step.messages, self._task.purpose, self._config)
        return answers[-1]

    def _call(self, number: int, attempt: int, request: Request) -> Answer:
        characters = sum(len(message.text) for message in request.messages)
        call = len(self._curve) + 1
        self._emit(PromptSent(number, call, attempt, request.purpose, characters, request.max_output_tokens))
        completion = self._model.complete(request)
        self._curve.append(self._best_heuristic())
        self._input_tokens += completion.usage.input_tokens
        self._output_tokens += completion.usage.output_tokens
        answer = self._read(completion)
        self._emit(
            AnswerReceived(
                step=number,
                call=call,
                outcome=completion.outcome,
                model=completion.model,
                num_programs=len(answer.programs),
                input_tokens=completion.usage.input_tokens,
                output_tokens=completion.usage.output_tokens,
                latency_s=completion.latency_s,
            )
        )
        return answer

    def _read(self, completion: Completion) -> Answer:
        self._last = completion
        if completion.outcome != "ok":
            return Answer(completion.outcome, completion)
        found = programs(completion.text, self._task.functions, self._config.programs_per_answer)
        return Answer("programs" if found else "no_program", completion, tuple(found))

    def _candidates_of(self, number: int, step: RefinementStep, sources: Sequence[str]) -> list[Candidate]:
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

    def _reports(self, sources: Sequence[str]) -> dict[str, SuiteReport]:
        """Returns reports by hash: stored ones, static rejections, and those of the tester for all others."""
        reports: dict[str, SuiteReport] = {}
        untested: list[str] = []
        for source in sources:
            digest = program_hash(source)
            stored = self._record.report_in_order(digest, self._suite)
            problems = (
                [] if stored is not None else static_check.check(source, self._task.functions, self._task.interface)
            )
            if stored is not None:
                reports[digest] = SuiteReport.from_json(stored)
            elif problems:
                reports[digest] = unrun_report(kinds(self._task.tests), Outcome.REFUSED_STATIC, problems)
            else:
                untested.append(source)
        for source, report in zip(untested, self._tester(untested) if untested else [], strict=True):
            reports[program_hash(source)] = report
        return reports

    def _keep(self, candidate: Candidate, parent: Candidate | None) -> None:
        if candidate.duplicate_of is None:
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

    def _best_heuristic(self) -> float:
        best = self._best()
        return 0.0 if best is None else best.heuristic

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
            rounds=tuple(self._rounds),
        )
        self._emit(
            Finished(
                reason=reason,
                message=message,
                best=None if result.best is None else result.best.id,
                heuristic=self._best_heuristic(),
                calls=result.calls,
                input_tokens=result.input_tokens,
                output_tokens=result.output_tokens,
            )
        )
        return result

    def _emit(self, event: Event) -> None:
        self._record.add_event(self._stream, self._events, event.kind, event.to_json())
        self._events += 1
        self._on_event(event)
