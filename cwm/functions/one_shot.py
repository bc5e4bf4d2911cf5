"""Functions beside a model that are asked for once each: several candidates, checked, chosen by a tournament.

There is no truth to refine such a function against (the CWM paper, 4.3): what plays best stays. To do without, the
baselines, is always among the entrants. Value functions and policy priors are both chosen in this way.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from types import ModuleType
from typing import Any, TypeAlias

from cwm.functions.decided import Decided, Played
from cwm.functions.materials import FunctionOutcome, Materials
from cwm.functions.types import (
    Entry,
    FunctionCandidate,
    FunctionChosen,
    FunctionConfig,
    FunctionReport,
    FunctionResult,
    FunctionTested,
    Status,
)
from cwm.interface import templates, text
from cwm.interface.answers import programs
from cwm.llm.api import BudgetExceededError, Completion, LanguageModel, Message, ReplayMissError, Request
from cwm.llm.truncation import CountedQuestions
from cwm.record.record import RunRecord
from cwm.sandbox.parent import static_check
from cwm.sandbox.parent.static_check import ALLOWED_MODULES
from cwm.storage.keys import content_key, program_hash
from cwm.synthesis.events import Event, OnEvent
from cwm.trajectories.telling import UNNAMED, Telling
from games.api import GameInfo, Json

FunctionChecker: TypeAlias = Callable[[Sequence[str]], list[FunctionReport]]
"""Checks functions on the model, each on its own: what they must keep to, and their speed.

Raises `TesterError` if one could not be checked through no fault of its own.
"""

FunctionTournament: TypeAlias = Callable[[list[FunctionCandidate]], Played]
"""Lets planners play each other on the model: those without candidate first, one a baseline, then one a candidate.

Scores are a function of the candidates and a seed, and where it stops in time of what it has stored of its deals.
"""


@dataclass(frozen=True)
class FunctionKind:
    """What is asked for: a row of `cwm.functions.kinds`.

    Attributes:
        name: event stream, purpose of the calls, kind of the stored programs, the run's setting that asks for it.
        function: name of the function in `cwm.interface.program`, or in `interface`.
        title: what one of them is called.
        words: what they are called in messages, in the plural.
        result: key of `FunctionResult` in what a run came to.
        config: settings of asking for it.
        tested: event type.
        chosen: event type.
        template: of the prompt; that of a repair has `_repair` after its name.
        ask: asks for candidates and chooses; raises what `OneShot.run` does.
        too_slow: the sentence of a repair's prompt on speed, filled in with `measured` and `needed` calls a second.
        otherwise: what it means that none won, in the words of a report; "" where the result says it itself.
        unused: the same in the words of a live view.
        baselines: who plays without a candidate: None first, then others by name.
        context: what else decides checks and scores, besides model and settings: part of the keys of what is stored.
        also: further functions that an answer must define.
        interface: module that declares the functions where `cwm.interface.program` does not.
        stage: what a run says when it begins, `synthesising …` if empty.
        metadata: what a bundle tells of the choice, by key.
        fields: further fields of a `ModelBundle` that are set, besides the source.
        task: what they are written for, where that does not take long and follows from the model alone, whatever is
            chosen of other kinds: then their first questions may be put together with those of others.
    """

    name: str
    function: str
    title: str
    words: str
    result: str
    config: type[FunctionConfig]
    tested: type[FunctionTested]
    chosen: type[FunctionChosen]
    template: str
    ask: Callable[[Materials, Any], FunctionOutcome]
    too_slow: str = ""
    otherwise: str = ""
    unused: str = ""
    baselines: tuple[str | None, ...] = (None,)
    context: dict[str, Any] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    interface: ModuleType | None = None
    stage: str = ""
    metadata: Callable[[Any], dict[str, Json]] = lambda outcome: {}
    fields: Callable[[Any], dict[str, Json]] = lambda outcome: {}
    task: Callable[[Materials], "FunctionTask"] | None = None

    @property
    def begins(self) -> str:
        """What a run says when it begins to ask."""
        return self.stage or f"synthesising {self.words}"

    @property
    def functions(self) -> tuple[str, ...]:
        """All functions that an answer must define."""
        return (self.function, *self.also)

    def first_questions(self, given: Materials, config: FunctionConfig) -> list[Request]:
        """Returns the questions that `ask` begins with, numbered as it numbers them; [] where they are not known."""
        if self.task is None:
            return []
        message = Message("user", self.prompt(self.task(given)))
        request = Request((message,), self.name, config.max_output_tokens, temperature=config.temperature)
        return [replace(request, occurrence=number) for number in range(config.num_candidates)]

    def prompt(self, task: "FunctionTask") -> str:
        """Returns the prompt for one candidate."""
        return templates.render(self.template, **self._words(task))

    def repair_prompt(self, task: "FunctionTask", candidate: FunctionCandidate, config: FunctionConfig) -> str:
        """Returns the prompt that shows a candidate and what its checks say of it."""
        problems = list(candidate.report.problems)
        if candidate.status == "slow":
            measured = candidate.report.calls_per_s
            problems.append(self.too_slow.format(measured=measured, needed=config.min_calls_per_s))
        return templates.render(
            f"{self.template}_repair", **self._words(task), candidate=candidate.source, problems=problems
        )

    def _words(self, task: "FunctionTask") -> dict[str, Any]:
        info = task.info
        return {
            "rules": task.rules,
            **task.telling.words(),
            "player_names": info.player_names,
            "source": task.source,
            "interface": text.render(self.functions, self.interface),
            "min_utility": info.min_utility,
            "max_utility": info.max_utility,
            "utility": info.utility,
            "perfect_information": info.perfect_information,
            "allowed_modules": sorted(ALLOWED_MODULES),
            "examples": task.examples,
            **task.words(),
        }


@dataclass(frozen=True)
class FunctionTask:
    """What functions are written for.

    Attributes:
        rules: the rules in words.
        info: players, utility, bounds, information.
        source: the synthesised model.
        examples: tests or moments of recorded games as text, for the prompt.
        telling: what the model is told beside the rules.
    """

    rules: str
    info: GameInfo
    source: str
    examples: str
    telling: Telling = UNNAMED

    def words(self) -> dict[str, Any]:
        """Returns what templates of this task alone are filled in with."""
        return {}


@dataclass(frozen=True)
class Prompts:
    """What the language model is asked.

    Attributes:
        first: the prompt for a candidate.
        repair: returns the prompt for another try, given a candidate and its report.
        repairs: further calls for a candidate whose checks fail.
    """

    first: str
    repair: Callable[[FunctionCandidate], str] | None = None
    repairs: int = 0


class OneShot:
    """Asks for functions of one kind and chooses one, or none.

    Args:
        kind: what is asked for.
        prompts: how.
        model_source: the model beside which they run.
        config: settings.
        model: as the caller composed it.
        checker: checks candidates.
        tournament: plays them against each other and against the baselines.
        record: where programs, scores and events are kept.
        on_event: told of everything that happens.
    """

    def __init__(
        self,
        kind: FunctionKind,
        prompts: Prompts,
        model_source: str,
        config: FunctionConfig,
        model: LanguageModel,
        checker: FunctionChecker,
        tournament: FunctionTournament,
        record: RunRecord | None,
        on_event: OnEvent,
    ) -> None:
        self._kind = kind
        self._prompts = prompts
        self._parent = program_hash(model_source)
        self._config = config
        self._questions = CountedQuestions(model, kind.name, config)
        self._checker = checker
        self._tournament = tournament
        self._record = record
        self._on_event = on_event
        self._events = 0

    def run(self) -> FunctionResult:
        """Asks, checks and chooses.

        Raises:
            LanguageModelError: a call failed for good (other than by a budget's cap).
            TesterError: candidates could not be checked or played through no fault of theirs.
            RunRecordError: the record cannot be written.
        """
        candidates: list[FunctionCandidate] = []
        message = f"{self._config.num_candidates} {self._kind.words} were asked for"
        try:
            for number, answer in enumerate(self._questions.each(self._prompts.first, self._config.num_candidates)):
                candidates.append(self._candidate(number, answer, candidates))
                self._repair(candidates)
        except BudgetExceededError as error:
            message = str(error)
        return self._choose(candidates, message)

    def _repair(self, candidates: list[FunctionCandidate]) -> None:
        """Asks again for the last candidate while its checks fail; the repaired one takes its place."""
        write = self._prompts.repair
        for _ in range(self._prompts.repairs):
            last = candidates[-1]
            if write is None or last.status not in ("rejected", "failed", "slow"):
                return
            try:
                answer = self._questions.ask(write(last))
            except ReplayMissError:
                # What is fast enough differs by machine: where it was, nothing was asked that a recording could hold.
                if last.status != "slow":
                    raise
                return
            candidates[-1] = self._candidate(last.id, answer, candidates[:-1])

    def _candidate(self, number: int, answer: Completion, earlier: Sequence[FunctionCandidate]) -> FunctionCandidate:
        found = programs(answer.text, self._kind.functions, 1) if answer.outcome == "ok" else []
        if not found:
            problem = "no program in the answer" if answer.outcome == "ok" else f"the answer was {answer.outcome}"
            candidate = FunctionCandidate(number, "", "", "no_program", FunctionReport((problem,)))
        else:
            candidate = self._checked(number, found[0], earlier)
        self._emit(
            self._kind.tested(
                candidate=number,
                status=candidate.status,
                hash=candidate.hash,
                problems=candidate.report.problems,
                calls_per_s=candidate.report.calls_per_s,
            )
        )
        return candidate

    def _checked(self, number: int, source: str, earlier: Sequence[FunctionCandidate]) -> FunctionCandidate:
        digest = program_hash(source)
        twin = next((item for item in earlier if item.hash == digest), None)
        if twin is not None:
            return replace(twin, id=number, status="duplicate")
        problems = static_check.check(source, self._kind.functions, self._kind.interface)
        report = FunctionReport(tuple(problems)) if problems else self._report(digest, source)
        status: Status = "checked"
        if problems:
            status = "rejected"
        elif report.problems:
            status = "failed"
        elif report.calls_per_s is not None and report.calls_per_s < self._config.min_calls_per_s:
            status = "slow"
        if self._record is not None:
            self._record.add_program(source, kind=self._kind.name, parent=self._parent, metadata={"call": number})
        return FunctionCandidate(number, source, digest, status, report)

    def _report(self, digest: str, source: str) -> FunctionReport:
        """Returns the stored report or makes one: speed is measured once, so that a resumed run decides alike."""
        suite = content_key({self._kind.name: self._parent, "seed": self._config.seed})
        stored = self._record.test_report(digest, suite) if self._record is not None else None
        if stored is not None:
            return FunctionReport(tuple(stored["problems"]), stored["calls_per_s"], stored["checked"])
        (report,) = self._checker([source])
        if self._record is not None:
            self._record.put_test_report(digest, suite, asdict(report))
        return report

    def _choose(self, candidates: list[FunctionCandidate], message: str) -> FunctionResult:
        entrants = [candidate for candidate in candidates if candidate.status == "checked"]
        best: FunctionCandidate | None = None
        chosen: Entry = None
        baselines: dict[str | None, float] = {}
        decided: Decided | None = None
        if entrants:
            played = self._played(entrants)
            decided = played.decided
            split = len(self._kind.baselines)
            baselines = dict(zip(self._kind.baselines, played.scores[:split], strict=True))
            scored = [replace(item, score=score) for item, score in zip(entrants, played.scores[split:], strict=True)]
            by_id = {item.id: item for item in scored}
            candidates = [by_id.get(item.id, item) for item in candidates]
            pairs = [*baselines.items(), *((item.id, item.score or 0.0) for item in scored)]
            chosen = self._winner(baselines, scored) if decided is None else pairs[decided.kept][0]
            best = by_id.get(chosen) if isinstance(chosen, int) else None
            words = "" if decided is None else decided.words(["none" if who is None else str(who) for who, _ in pairs])
            self._emit(self._kind.chosen(chosen, tuple(pairs), words))
        else:
            message += "; none of them passed its checks"
        totals = self._questions.totals()
        return FunctionResult(
            best=best,
            candidates=tuple(candidates),
            none_score=baselines.get(None),
            calls=totals["calls"],
            input_tokens=totals["input_tokens"],
            output_tokens=totals["output_tokens"],
            message=message,
            baselines={name: score for name, score in baselines.items() if name is not None},
            chosen=chosen,
            decided=decided,
        )

    def _winner(self, baselines: dict[str | None, float], scored: Sequence[FunctionCandidate]) -> Entry:
        # On ties the earlier candidate, and the baselines before all: they cost no trust.
        chosen: Entry = None
        to_beat = baselines[None]
        for name, score in baselines.items():
            if score > to_beat + self._config.margin:
                chosen, to_beat = name, score
        leader = max(scored, key=lambda item: (item.score or 0.0, -item.id))
        return leader.id if (leader.score or 0.0) > to_beat + self._config.margin else chosen

    def _played(self, entrants: list[FunctionCandidate]) -> Played:
        """Returns what the tournament came to, baselines first; a finished tournament is not played again."""
        key = content_key(
            {"tournament": [item.hash for item in entrants], "model": self._parent}
            | {"config": self._config.to_json()}
            | self._kind.context
        )
        stored = self._record.evaluation(key) if self._record is not None else None
        if stored is not None:
            return Played.from_record(stored)
        played = self._tournament(entrants)
        if self._record is not None:
            self._record.put_evaluation(key, {"kind": f"{self._kind.name}_tournament", **played.to_json()})
        return played

    def _emit(self, event: Event) -> None:
        if self._record is not None:
            self._record.add_event(self._kind.name, self._events, event.kind, event.to_json())
        self._events += 1
        self._on_event(event)
