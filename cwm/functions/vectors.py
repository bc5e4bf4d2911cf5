"""What functions between observations and vectors are written for, and the settings of asking for them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from cwm.functions.decided import Played
from cwm.functions.materials import Materials
from cwm.functions.one_shot import FunctionChecker, FunctionKind, FunctionTask, OneShot, Prompts
from cwm.functions.types import (
    FunctionCandidate,
    FunctionChosen,
    FunctionConfig,
    FunctionConfigError,
    FunctionResult,
    FunctionTested,
)
from cwm.functions.vectors_check import ProcessVectorChecker
from cwm.interface import vectors
from cwm.interface.vectors import DECODE, ENCODE
from cwm.llm.api import LanguageModel
from cwm.observations.samples import Sample, distinct, samples_of
from cwm.observations.structures import kind_of
from cwm.observations.vectors import ObservationVectors, RoundTrip, infer, try_out
from cwm.record.record import RunRecord
from cwm.storage.keys import content_key
from cwm.synthesis.events import OnEvent, ignore
from cwm.trajectories.telling import UNNAMED, Telling
from games.api import GameInfo, Json

SHOWN_CHARACTERS: Final = 24_000
"""The examples of a prompt are about so long at most."""


@dataclass(frozen=True)
class VectorConfig(FunctionConfig):
    """Settings of asking for functions between observations and vectors.

    Attributes:
        num_candidates: pairs of functions asked for, one call each.
        repairs: further calls for a pair whose checks fail.
        games: varied games that the model plays by itself, once for samples beside the recorded games, once to hold
            out.
        planner_games: games of a planner on the model, likewise: what players who think come to see.
        planner_simulations: of that planner, a move.
    """

    num_candidates: int = 1
    min_calls_per_s: float = 200.0
    repairs: int = 3
    games: int = 20
    planner_games: int = 4
    planner_simulations: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.repairs < 0 or self.games < 1 or self.planner_games < 0 or self.planner_simulations < 1:
            raise FunctionConfigError(
                "repairs and planner_games must be at least 0, games and planner_simulations at least 1; given "
                f"repairs={self.repairs}, games={self.games}, planner_games={self.planner_games}, "
                f"planner_simulations={self.planner_simulations}"
            )


@dataclass(frozen=True)
class VectorTask:
    """What functions between observations and vectors are written for.

    Attributes:
        rules: the rules in words.
        info: players.
        source: the synthesised model.
        recorded: samples of the recorded games, which the prompt may show.
        samples: those and the model's own: every function must write and read them all.
        held_out: samples of other games: what decides.
        telling: what the model is told beside the rules.
    """

    rules: str
    info: GameInfo
    source: str
    recorded: tuple[Sample, ...]
    samples: tuple[Sample, ...]
    held_out: tuple[Sample, ...]
    telling: Telling = UNNAMED

    @property
    def asked(self) -> FunctionTask:
        """What the prompts show of it."""
        return FunctionTask(self.rules, self.info, self.source, render(examples(self.recorded)), self.telling)


def examples(samples: Sequence[Sample], characters: int = SHOWN_CHARACTERS) -> list[Sample]:
    """Returns samples for a prompt: the first, then each that shows something new, while there is room.

    New is a player, a key, a type, a length of a list, or a text at a place where it was not seen before.
    """
    chosen: list[Sample] = []
    known: set[tuple[str, str]] = set()
    room = characters
    for sample in distinct(samples):
        shown = {("player", str(sample[0])), *_features(sample[1], "")}
        length = len(repr(sample[1]))
        if (shown <= known and chosen) or (length > room and chosen):
            continue
        known |= shown
        room -= length
        chosen.append(sample)
    return chosen


def render(samples: Sequence[Sample]) -> str:
    """Returns samples as Python text for a prompt."""
    return "\n".join(f"(player_id={player}) {observation!r}" for player, observation in samples)


def _features(value: Json, path: str) -> Iterator[tuple[str, str]]:
    yield path, kind_of(value)
    if isinstance(value, str):
        yield path, f"={value}"
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _features(item, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        yield path, str(len(value))
        for item in value:
            yield from _features(item, f"{path}[]")


SCHEMA: Final = "schema"
"""The entrant that no language model wrote."""

Chosen: TypeAlias = Literal["schema"] | int | None
"""The schema, the number of a candidate, or nobody."""

Trial: TypeAlias = Callable[[str, Sequence[Sample]], RoundTrip]
"""Tries functions on held-out samples, see `cwm.functions.vectors_check.ProcessVectorChecker.round_trip`."""


@dataclass(frozen=True)
class VectorsTested(FunctionTested):
    """A pair of functions was checked."""

    kind = "vectors_tested"


@dataclass(frozen=True)
class VectorsChosen(FunctionChosen):
    """The held-out observations have decided; None stands for the schema. The scores are shares that came back."""

    kind = "vectors_chosen"


def task_of(given: Materials, config: VectorConfig) -> VectorTask:
    """Makes the task.

    Besides the recorded games, games on the model itself give samples, varied ones and a planner's: it is on the model
    that an agent learns. Further ones are held out, with the held-out games.
    """
    own, others = given.self_play(config.games, config.planner_games, config.planner_simulations)
    recorded = samples_of(given.recorded, given.deck)
    return VectorTask(
        rules=given.rules,
        info=given.info,
        source=given.source,
        recorded=tuple(recorded),
        samples=(*recorded, *samples_of(own)),
        held_out=(*samples_of(given.held_out, given.deck), *samples_of(others)),
        telling=given.telling,
    )


def ask(given: Materials, config: VectorConfig) -> "VectorResult":
    """Infers a schema and asks for functions; held-out observations decide."""
    task = task_of(given, config)
    checker = ProcessVectorChecker(task.samples, given.info, given.tester)
    return synthesize_vectors(task, config, given.model, checker, checker.round_trip, given.record, given.on_event)


def metadata(result: "VectorResult") -> dict[str, Json]:
    """Returns what a bundle tells of how its observations become vectors."""
    shares = {name: trip.share for name, trip in result.trips.items()}
    width = None if result.chosen is None else result.trips[str(result.chosen)].width
    return {"vectors": {"chosen": result.chosen, "width": width, "shares": shares, "message": result.message}}


def fields(result: "VectorResult") -> dict[str, Json]:
    """Returns the schema for the bundle where it was chosen."""
    return {"schema": result.schema.to_json() if result.chosen == SCHEMA else None}


KIND = FunctionKind(
    "vectors",
    ENCODE,
    "observation vectors",
    "pairs of functions between observations and vectors",
    "vectors",
    VectorConfig,
    VectorsTested,
    VectorsChosen,
    "observation_vectors",
    ask,
    too_slow="They are too slow: {measured:,.0f} observations are written a second, at least {needed:,.0f} are needed.",
    also=(DECODE,),
    interface=vectors,
    stage="choosing how observations become vectors",
    metadata=metadata,
    fields=fields,
)


@dataclass(frozen=True)
class VectorResult:
    """What came of it.

    Attributes:
        chosen: who brings all held-out observations back exactly: the schema before all, then the earliest candidate;
            None if nobody does.
        schema: inferred from the samples.
        trips: what became of the held-out observations, by `schema` or the candidate's number.
        asked: candidates, calls and tokens.
    """

    chosen: Chosen
    schema: ObservationVectors
    trips: dict[str, RoundTrip]
    asked: FunctionResult

    @property
    def program(self) -> str | None:
        """The functions, if they were chosen."""
        return self.asked.candidates[self.chosen].source if isinstance(self.chosen, int) else None

    @property
    def message(self) -> str:
        """How it ended, in words; if nobody was chosen, with the first field at which each fails."""
        told = "; ".join(f"{_named(name)}: {_in_words(trip)}" for name, trip in self.trips.items())
        unfit = [item for item in self.asked.candidates if str(item.id) not in self.trips]
        told += "".join(f"; functions {item.id}: {item.status}, {_first_problem(item)}" for item in unfit)
        if self.chosen is not None:
            return f"{_named(str(self.chosen))} chosen ({told})"
        return f"nothing brings all held-out observations back ({told}); give more games or candidates"

    def to_json(self) -> dict[str, Any]:
        """Returns the result without sources and schema, which the model's bundle holds."""
        best = None if self.program is None else self.asked.candidates[int(self.chosen or 0)].hash
        return self.asked.to_json() | {
            "best": best,
            "chosen": self.chosen,
            "baselines": {SCHEMA: self.trips[SCHEMA].share},
            "none_score": None,
            "round_trips": {name: trip.to_json() for name, trip in self.trips.items()},
            "message": self.message,
        }


def synthesize_vectors(
    task: VectorTask,
    config: VectorConfig,
    model: LanguageModel,
    checker: FunctionChecker,
    trial: Trial,
    record: RunRecord | None = None,
    on_event: OnEvent = ignore,
) -> VectorResult:
    """Infers a schema, asks for functions, and chooses what brings every held-out observation back exactly.

    Args:
        task: rules and samples.
        config: settings.
        model: as the caller composed it.
        checker: checks candidates on the samples, see `cwm.functions.vectors_check.ProcessVectorChecker`.
        trial: tries those that pass on the held-out samples.
        record: where programs, scores and events are kept.
        on_event: told of everything that happens.

    Raises:
        LanguageModelError: a call failed for good (other than by a budget's cap).
        TesterError: candidates could not be checked through no fault of theirs.
        ObservationVectorError: there are no samples, or one is no JSON.
        RunRecordError: the record cannot be written.
    """
    held_out = distinct(task.held_out)
    schema = infer(observation for _, observation in task.samples)
    trips = {SCHEMA: try_out(schema, len(task.samples), [observation for _, observation in held_out])}
    decisive = content_key([task.samples, held_out])
    known: dict[str, RoundTrip] = {}

    def trip(candidate: FunctionCandidate) -> RoundTrip:
        if candidate.hash not in known:
            known[candidate.hash] = _stored(trial, candidate, held_out, decisive, record)
        return known[candidate.hash]

    def scores(candidates: list[FunctionCandidate]) -> Played:
        return Played((trips[SCHEMA].share or 0.0, *(trip(item).share or 0.0 for item in candidates)))

    asked_for = task.asked
    prompts = Prompts(
        KIND.prompt(asked_for), lambda candidate: KIND.repair_prompt(asked_for, candidate, config), config.repairs
    )
    kind = replace(KIND, context={"kind": KIND.name, "samples": decisive})
    asked = OneShot(kind, prompts, task.source, config, model, checker, scores, record, on_event).run()
    trips |= {str(item.id): trip(item) for item in asked.candidates if item.score is not None}
    return VectorResult(_winner(trips), schema, trips, asked)


def _winner(trips: dict[str, RoundTrip]) -> Chosen:
    passed = [name for name, trip in trips.items() if trip.exact == trip.held_out > 0]
    if not passed:
        return None
    return SCHEMA if passed[0] == SCHEMA else int(passed[0])


def _stored(
    trial: Trial, candidate: FunctionCandidate, held_out: Sequence[Sample], decisive: str, record: RunRecord | None
) -> RoundTrip:
    """Returns what the record holds of a candidate's round trips, or makes them."""
    key = content_key({"round trip": candidate.hash, "samples": decisive})
    found = record.evaluation(key) if record is not None else None
    if found is not None:
        return RoundTrip(**found)
    made = trial(candidate.source, held_out)
    if record is not None:
        record.put_evaluation(key, asdict(made))
    return made


def _named(name: str) -> str:
    return SCHEMA if name == SCHEMA else f"functions {name}"


def _in_words(trip: RoundTrip) -> str:
    told = f"{trip.exact} of {trip.held_out} come back, {trip.width} numbers"
    return f"{told}, first {trip.first_error}" if trip.first_error else told


def _first_problem(candidate: FunctionCandidate) -> str:
    return next(iter(candidate.report.problems), "no problem noted")
