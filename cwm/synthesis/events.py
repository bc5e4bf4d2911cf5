"""What happens during a synthesis, for a live view and the run record."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, TypeAlias

from cwm.llm.api import Outcome


@dataclass(frozen=True)
class Event:
    """Base of all events; `kind` names the type in records."""

    kind: ClassVar[str] = "event"

    def to_json(self) -> dict[str, Any]:
        """Returns the event's fields."""
        return asdict(self)


@dataclass(frozen=True)
class NodeChosen(Event):
    """A program was chosen to be refined; `draws` holds what was drawn for each, by id."""

    kind: ClassVar[str] = "node_chosen"
    step: int
    parent: int | None
    draws: dict[int, float]

    def to_json(self) -> dict[str, Any]:
        """Returns the event's fields; JSON's keys are strings."""
        return asdict(self) | {"draws": {str(key): value for key, value in self.draws.items()}}


@dataclass(frozen=True)
class PromptSent(Event):
    """A request goes to the model; `attempt` counts from 1 and grows when an answer was truncated."""

    kind: ClassVar[str] = "prompt_sent"
    step: int
    call: int
    attempt: int
    purpose: str
    characters: int
    max_output_tokens: int


@dataclass(frozen=True)
class AnswerReceived(Event):
    """An answer came, good or not."""

    kind: ClassVar[str] = "answer_received"
    step: int
    call: int
    outcome: Outcome
    model: str
    num_programs: int
    input_tokens: int
    output_tokens: int
    latency_s: float


@dataclass(frozen=True)
class CandidateTested(Event):
    """A program was tested, or rejected before any test."""

    kind: ClassVar[str] = "candidate_tested"
    step: int
    candidate: int
    parent: int | None
    hash: str
    status: str
    heuristic: float
    pass_rates: dict[str, float]
    problems: tuple[str, ...]
    duplicate_of: int | None


@dataclass(frozen=True)
class FurtherTested(Event):
    """Games were played with a program that passed every test; `added` are the tests of these games that it failed.

    The other fields are those of `cwm.synthesis.further.Found`; `heuristic` is the best pass rate over all tests since.
    """

    kind: ClassVar[str] = "further_tested"
    round: int
    candidate: int
    games: Mapping[str, int]
    tested: Mapping[str, int]
    failed: Mapping[str, int]
    added: tuple[str, ...]
    heuristic: float


@dataclass(frozen=True)
class Finished(Event):
    """The synthesis ended; `reason` is one of `SynthesisResult.reason`."""

    kind: ClassVar[str] = "finished"
    reason: str
    message: str
    best: int | None
    heuristic: float
    calls: int
    input_tokens: int
    output_tokens: int


OnEvent: TypeAlias = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Takes an event and does nothing."""
