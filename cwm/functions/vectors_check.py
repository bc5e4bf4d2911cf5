"""Checks functions between observations and vectors: form, one length, nothing remembered, the round trip exact.

A program encodes in one process and decodes in another, with another hash seed, and the parent compares: nothing but
the vector carries an observation over, and nothing that the program says of itself is believed.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from cwm.functions.probe_answers import OTHER_HASH_SEED, is_line, is_measured
from cwm.functions.types import FunctionReport
from cwm.interface.vectors import DECODE, ENCODE
from cwm.observations.samples import Sample, distinct
from cwm.observations.vectors import RoundTrip, canonical
from cwm.sandbox.parent.host import Sandbox, Worker
from cwm.sandbox.wire.api import ProgramSource
from cwm.sandbox.wire.plain_json import first_difference, is_finite
from cwm.synthesis.candidate import problem_of
from cwm.synthesis.testing import TesterSettings, in_parallel, started_worker
from games.api import GameInfo, Json

SESSION: Final = "cwm.functions.vectors_probe"
CHUNK: Final = 50
"""Items of one request: their vectors fit one answer."""
MAX_WIDTH: Final = 10_000
SHOWN: Final = 2_000
CHANGED: Final = "changed"


class _BrokenError(Exception):
    """A program ended or blocked its process; the message says how."""


@dataclass(frozen=True)
class VectorsFault:
    """What is wrong with one sample's way there and back.

    Attributes:
        kind: short name, counted by; `changed` where the sample came back otherwise.
        message: in words, with the field.
    """

    kind: str
    message: str


@dataclass(frozen=True)
class Tried:
    """What came of some samples.

    Attributes:
        width: numbers of the first vector, 0 if there is none.
        faults: one a sample, None where it came back exactly.
        calls_per_s: vectors written a second, None if nothing was measured.
    """

    width: int
    faults: tuple[VectorsFault | None, ...]
    calls_per_s: float | None


class ProcessVectorChecker:
    """Checks pairs of functions, each in worker processes of its own.

    Args:
        samples: every pair must write and read them all.
        info: what is fixed about the game.
        settings: limits and seed.
    """

    def __init__(self, samples: Sequence[Sample], info: GameInfo, settings: TesterSettings) -> None:
        self._samples = distinct(samples)
        self._info = asdict(info)
        self._settings = settings
        self._sandbox = Sandbox(settings.capped(), settings.level, (SESSION,))
        self._other = Sandbox(settings.capped(), settings.level, (SESSION,), hash_seed=OTHER_HASH_SEED)

    def __call__(self, sources: Sequence[str]) -> list[FunctionReport]:
        """Checks every pair of functions on the samples.

        Returns:
            One report each, in the given order.

        Raises:
            TesterError: the sandbox failed.
        """
        # One at a time: functions that run beside each other would slow each other's clock.
        return in_parallel(self._report, sources, workers=1)

    def round_trip(self, source: str, held_out: Sequence[Sample]) -> RoundTrip:
        """Tries functions on observations that they were not written for.

        Args:
            source: the functions.
            held_out: samples of other games.

        Raises:
            TesterError: the sandbox failed.
        """
        try:
            # The first sample goes along: the held-out vectors must be as long as its own.
            tried = self._tried(source, [*self._samples[:1], *held_out])
        except _BrokenError as error:
            errors = {"broken": len(held_out)}
            return RoundTrip(0, len(self._samples), len(held_out), 0, 0, errors, str(error))
        found = [fault for fault in tried.faults[1:] if fault is not None]
        counts = Counter(fault.kind for fault in found)
        changed = counts.pop(CHANGED, 0)
        first = found[0].message if found else ""
        exact = len(held_out) - len(found)
        errors = dict(sorted(counts.items()))
        return RoundTrip(tried.width, len(self._samples), len(held_out), exact, changed, errors, first)

    def _report(self, source: str) -> FunctionReport:
        try:
            tried = self._tried(source, self._samples)
        except _BrokenError as error:
            return FunctionReport((str(error),))
        return FunctionReport(tuple(_lines(self._samples, tried.faults)), tried.calls_per_s, len(self._samples))

    def _tried(self, source: str, samples: Sequence[Sample]) -> Tried:
        program = ProgramSource(source, {}, self._info)
        with started_worker(self._sandbox, program, self._settings.seed) as worker:
            written, seconds = self._ask(worker, ENCODE, [[observation, player] for player, observation in samples])
        width = next((len(answer) for answer, _ in written if is_vector(answer)), 0)
        faults = [_form(answer, problem, width) for answer, problem in written]
        sound = [number for number, fault in enumerate(faults) if fault is None]
        vectors = {number: [float(value) for value in written[number][0]] for number in sound}
        with started_worker(self._other, program, self._settings.seed) as worker:
            items = [[vectors[number], samples[number][0]] for number in sound]
            back, _ = self._ask(worker, DECODE, items)
            for number, (answer, problem) in zip(sound, back, strict=True):
                faults[number] = _difference(samples[number][1], answer, problem)
            # After all was read, in the opposite order: what is remembered, or follows the order of a set, shows.
            items = [[samples[number][1], samples[number][0]] for number in reversed(sound)]
            again, _ = self._ask(worker, ENCODE, items)
        for number, (answer, problem) in zip(reversed(sound), again, strict=True):
            faults[number] = faults[number] or _repeated(vectors[number], answer, problem)
        return Tried(width, tuple(faults), len(samples) / seconds if seconds > 0 else None)

    def _ask(self, worker: Worker, function: str, items: Sequence[Json]) -> tuple[list[Any], float]:
        if problem := problem_of(worker.loaded):
            raise _BrokenError(f"the functions could not be loaded: {problem}")
        answers: list[Any] = []
        seconds = 0.0
        otherwise = f"the worker's answer about {function} is not what was asked for"
        for start in range(0, len(items), CHUNK):
            argument = {"function": function, "items": items[start : start + CHUNK]}
            reply = worker.payload(
                SESSION, "answers", argument, seed=self._settings.seed, timeout_s=self._settings.test_seconds
            )
            if problem := problem_of(reply):
                raise _BrokenError(f"{function} could not be checked: {problem}")
            if not _is_answer(reply.value, len(argument["items"])):
                raise _BrokenError(otherwise)
            answers += reply.value["answers"]
            seconds += reply.value["seconds"]
        if not is_measured(len(items), seconds):
            raise _BrokenError(otherwise)
        return answers, seconds


def is_vector(answer: Json) -> bool:
    """Returns whether an answer is a list of at least one finite number."""
    return isinstance(answer, list) and bool(answer) and all(map(is_finite, answer))


def _is_answer(value: Json, items: int) -> bool:
    """Returns whether an answer has the form that is asked for: a program may have written it itself."""
    return (
        isinstance(value, dict)
        and is_measured(items, value.get("seconds"))
        and isinstance(value.get("answers"), list)
        and len(value["answers"]) == items
        and all(isinstance(row, list) and len(row) == 2 and is_line(row[1]) for row in value["answers"])
    )


def _form(answer: Json, problem: str, width: int) -> VectorsFault | None:
    if problem:
        return VectorsFault("raised", problem)
    if not is_vector(answer):
        return VectorsFault("form", f"{ENCODE} must return a list of at least one finite float, got {_short(answer)}")
    if len(answer) > MAX_WIDTH:
        return VectorsFault("long", f"{ENCODE} returned {len(answer)} numbers; at most {MAX_WIDTH} are of use")
    if len(answer) != width:
        return VectorsFault(
            "length", f"{ENCODE} returned {len(answer)} numbers here, but {width} for another observation"
        )
    return None


def _difference(observation: Json, answer: Json, problem: str) -> VectorsFault | None:
    if problem:
        return VectorsFault("read", problem)
    if canonical(answer) == canonical(observation):
        return None
    found = first_difference(observation, answer)
    where = "some numbers: whole numbers came back as floats, or floats as whole numbers"
    if found is not None:
        where = f"{found.path or 'the whole observation'}: {found.message}"
    return VectorsFault(CHANGED, f"an observation does not come back as it was, in {where[:SHOWN]}")


def _repeated(vector: list[float], answer: Json, problem: str) -> VectorsFault | None:
    if problem == "" and answer == vector:
        return None
    said = problem or "the vectors differ"
    message = f"{ENCODE} answers differently in another process and order ({said}): it must depend on its arguments"
    return VectorsFault("repeat", f"{message} alone, and not on the order of a set")


def _lines(samples: Sequence[Sample], faults: Sequence[VectorsFault | None]) -> list[str]:
    """Returns a line for each kind of fault, with its smallest observation."""
    found: dict[str, list[tuple[int, int]]] = {}
    for number, fault in enumerate(faults):
        if fault is not None:
            found.setdefault(fault.kind, []).append((len(repr(samples[number][1])), number))
    lines = []
    for cases in found.values():
        number = min(cases)[1]
        fault = faults[number]
        assert fault is not None
        player, observation = samples[number]
        case = f"{fault.message}; player_id: {player}; observation: {_short(observation)}"
        lines.append(case if len(cases) == 1 else f"{case} (one of {len(cases)} such observations)")
    return lines


def _short(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} …"
