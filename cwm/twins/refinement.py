"""Asks for a twin and refines it, as programs are refined, until it is proved or a limit is reached."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import ClassVar, Final, Literal, TypeAlias

from cwm.interface import twin as interface
from cwm.interface.answers import programs
from cwm.llm.api import BudgetExceededError, Completion, LanguageModel
from cwm.llm.truncation import complete_whole
from cwm.record.record import RunRecord
from cwm.sandbox.parent import static_check
from cwm.sandbox.wire.api import Outcome
from cwm.storage.keys import program_hash
from cwm.synthesis.candidate import Candidate, KindCounts, SuiteReport
from cwm.synthesis.conversation import Conversation
from cwm.synthesis.events import Event, OnEvent, ignore
from cwm.synthesis.refiner import Answer, Refiner
from cwm.synthesis.tree_search import TreeSearch
from cwm.twins.differences import ORDER
from cwm.twins.prompt import TwinPrompts, TwinReport
from cwm.twins.task import TwinConfig, TwinTask

STREAM: Final = "twin"
"""Name of the event stream in a run record, purpose of the calls, kind of the stored programs."""
NO_TWIN: Final = "NO TWIN:"
"""How an answer begins the line that says why a game can have none."""
METHODS: Final[dict[str, type[TreeSearch] | type[Conversation]]] = {
    "tree_search": TreeSearch,
    "conversation": Conversation,
}

TwinReason: TypeAlias = Literal["proved", "retries_used", "budget", "unanswered", "declined"]
Examiner: TypeAlias = Callable[[str], TwinReport]
"""Traces a twin, compiles it and compares it with its program; raises `TesterError` if that fails through no fault of
the twin."""
MOST_UNANSWERED: Final = 3


@dataclass(frozen=True)
class TwinTested(Event):
    """A twin was examined."""

    kind: ClassVar[str] = "twin_tested"
    candidate: int
    hash: str
    proved: bool
    transitions: int
    message: str


@dataclass(frozen=True)
class TwinResult:
    """What came of asking for a twin.

    Attributes:
        best: the twin that was proved, or that came closest; None if no answer held one.
        report: of it.
        reason: why it ended.
        message: the same in words.
        candidates: twins that were examined.
        calls: answers received.
        input_tokens: in all.
        output_tokens: in all.
    """

    best: Candidate | None
    report: TwinReport | None
    reason: TwinReason
    message: str
    candidates: int
    calls: int
    input_tokens: int
    output_tokens: int

    @property
    def proved(self) -> bool:
        """Whether there is a twin now."""
        return self.reason == "proved"


def synthesize_twin(
    task: TwinTask,
    config: TwinConfig,
    model: LanguageModel,
    examiner: Examiner,
    record: RunRecord | None = None,
    on_event: OnEvent = ignore,
) -> TwinResult:
    """Asks for a twin and refines it.

    Args:
        task: what it is written for.
        config: settings.
        model: as the caller composed it.
        examiner: examines twins; what it said before is for it to keep.
        record: where programs and events are kept.
        on_event: told of everything that happens.

    Raises:
        LanguageModelError: a call failed for good (other than by a budget's cap).
        TesterError: a twin could not be examined through no fault of its own.
        RunRecordError: the record cannot be written.
    """
    return _TwinSynthesis(task, config, model, examiner, record or RunRecord.memory(), on_event).run()


class _TwinSynthesis:
    """The state of one synthesis."""

    def __init__(
        self,
        task: TwinTask,
        config: TwinConfig,
        model: LanguageModel,
        examiner: Examiner,
        record: RunRecord,
        on_event: OnEvent,
    ) -> None:
        self._config = config
        self._model = model
        self._examiner = examiner
        self._record = record
        self._on_event = on_event
        self._parent = program_hash(task.program.source)
        self._reports: dict[str, TwinReport] = {}
        self._candidates: list[Candidate] = []
        self._completions: list[Completion] = []
        self._refiner: Refiner = METHODS[config.method](TwinPrompts(task, self._reports), config.refinement())

    def run(self) -> TwinResult:
        unanswered = 0
        try:
            for number in range(1 + self._config.num_retries):
                step = self._refiner.propose()
                completion = complete_whole(self._ask, step.messages, STREAM, self._config)
                answer = _read(completion)
                made = [self._candidate(number, step.parent, source) for source in answer.programs]
                if made and self._reports[made[-1].hash].proved:
                    return self._end("proved", "the twin is proved")
                declined = _declined(completion.text) if answer.kind == "no_program" else None
                if declined is not None:
                    return self._end("declined", f"the language model says that the game can have none: {declined}")
                self._refiner.observe(step, answer, made)
                unanswered = 0 if made else unanswered + 1
                if unanswered >= MOST_UNANSWERED:
                    return self._end("unanswered", f"{unanswered} answers in a row held no twin")
        except BudgetExceededError as error:
            return self._end("budget", str(error))
        return self._end("retries_used", f"{self._config.num_retries} refinement steps were made")

    def _ask(self, request: object) -> Completion:
        self._completions.append(self._model.complete(request))  # type: ignore[arg-type]
        return self._completions[-1]

    def _candidate(self, number: int, parent: Candidate | None, source: str) -> Candidate:
        digest = program_hash(source)
        twin = next((earlier for earlier in self._candidates if earlier.hash == digest), None)
        if twin is None:
            self._reports[digest] = self._examined(source)
            self._record.add_program(source, kind=STREAM, parent=self._parent, metadata={"call": number})
        candidate = Candidate(
            id=len(self._candidates),
            source=source,
            hash=digest,
            parent=None if parent is None else parent.id,
            step=number,
            version=1,
            report=as_suite(self._reports[digest]),
            duplicate_of=None if twin is None else twin.id,
        )
        self._candidates.append(candidate)
        report = self._reports[digest]
        told = report.problems[0] if report.proof is None and report.problems else ""
        transitions = 0 if report.proof is None else report.proof.state.transitions
        message = told or (report.proof.in_words if report.proof is not None else "")
        event = TwinTested(candidate.id, digest, report.proved, transitions, message)
        self._record.add_event(STREAM, candidate.id, event.kind, asdict(event))
        self._on_event(event)
        return candidate

    def _examined(self, source: str) -> TwinReport:
        problems = static_check.check(source, interface.TWIN_FUNCTIONS, interface, frozenset(interface.TWIN_MODULES))
        return TwinReport(tuple(problems)) if problems else self._examiner(source)

    def _end(self, reason: TwinReason, message: str) -> TwinResult:
        best = max(self._candidates, key=Candidate.rank, default=None)
        usages = [completion.usage for completion in self._completions]
        return TwinResult(
            best,
            None if best is None else self._reports[best.hash],
            reason,
            message,
            len(self._candidates),
            len(usages),
            sum(usage.input_tokens for usage in usages),
            sum(usage.output_tokens for usage in usages),
        )


def as_suite(report: TwinReport) -> SuiteReport:
    """Returns a report as that of a suite with one test for each function, by which refinement chooses."""
    if report.proof is None:
        counts = dict.fromkeys(ORDER, KindCounts(not_run=1))
        return SuiteReport(Outcome.REFUSED_STATIC, report.problems, counts)
    wrong = {group.field for group in report.proof.state.differences}
    early = bool(wrong & {"table", "encode"})
    counts = {
        name: KindCounts(failed=1) if name in wrong else KindCounts(not_run=1) if early else KindCounts(passed=1)
        for name in ORDER
    }
    return SuiteReport(Outcome.OK, (), counts)


def _read(completion: Completion) -> Answer:
    if completion.outcome != "ok":
        return Answer(completion.outcome, completion)
    found = programs(completion.text, interface.TWIN_FUNCTIONS, 1)
    return Answer("programs" if found else "no_program", completion, tuple(found))


def _declined(answer: str) -> str | None:
    lines = [line.strip().strip("`*") for line in answer.splitlines()]
    return next((line.removeprefix(NO_TWIN).strip() for line in lines if line.startswith(NO_TWIN)), None)
