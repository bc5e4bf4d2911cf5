"""Types of the functions beside a model: settings, candidates, what checks and tournaments said of them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final, Literal, Self, TypeAlias

from cwm.functions.decided import Decided
from cwm.synthesis.events import Event
from games.api import Json

Status: TypeAlias = Literal["checked", "rejected", "failed", "slow", "no_program", "duplicate"]
Entry: TypeAlias = int | str | None
"""Who takes part in a tournament: a candidate's number, a baseline's name, or None for the planner without any."""


class FunctionConfigError(ValueError):
    """A setting of the functions beside a model is unknown or out of range."""


@dataclass(frozen=True)
class FunctionConfig:
    """Settings.

    Attributes:
        num_candidates: functions asked for, one call each.
        max_output_tokens: cap of an answer, reasoning included.
        max_truncated_retries: a truncated answer is asked for again, at most so often, with a larger cap.
        truncated_growth: how much larger, as a factor.
        temperature: sampling temperature, None for the provider's default.
        min_calls_per_s: a slower function is no help to a search.
        margin: a candidate must score more than the best baseline by more than this, in the tournament's units; a
            tournament that stops in time asks for standard errors instead.
        seed: of the checks.
    """

    num_candidates: int = 4
    max_output_tokens: int = 16_384
    max_truncated_retries: int = 2
    truncated_growth: float = 2.0
    temperature: float | None = None
    min_calls_per_s: float = 1000.0
    margin: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.num_candidates < 1 or self.max_output_tokens < 1 or self.truncated_growth <= 1.0 or self.margin < 0:
            raise FunctionConfigError(
                "num_candidates and max_output_tokens must be at least 1, truncated_growth above 1, margin at least 0; "
                f"given {self}"
            )

    def to_json(self) -> dict[str, Any]:
        """Returns all settings."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Builds a configuration that a user wrote.

        Raises:
            FunctionConfigError: a key is unknown or a value out of range.
        """
        known = [item.name for item in fields(cls)]
        unknown = sorted(set(data) - set(known))
        if unknown:
            raise FunctionConfigError(f"unknown settings {unknown}; known are {', '.join(known)}")
        return cls(**data)

    @classmethod
    def from_record(cls, data: Mapping[str, Any]) -> Self:
        """Builds a configuration out of an old record: settings that are no longer known are passed over."""
        known = {item.name for item in fields(cls)}
        return cls(**{key: value for key, value in data.items() if key in known})


WITHOUT_PRIOR: Final[Mapping[str, Json]] = {"selection": "ucb", "prior": "uniform", "belief_temper": 0.0}
"""Settings of a planner that searches without any prior."""
WITH_UNIFORM: Final[Mapping[str, Json]] = {"selection": "puct", "prior": "uniform", "belief_temper": 0.0}
WITH_PRIOR: Final[Mapping[str, Json]] = {"selection": "puct", "prior": "policy", "belief_temper": 1.0}
"""Settings of a planner that searches with a policy prior and reads the others by it."""

PriorsPlay: TypeAlias = Literal["tree", "blueprint"]
"""How planners use a policy prior: in a tree, or as what everybody plays (`search.blueprint`)."""
BLUEPRINTS_BUDGET: Final[Mapping[str, Json]] = {"simulations": 60, "belief_size": 20}
"""What a planner over a blueprint spends on a move: play-outs ask the policy prior at every decision."""
AS_BLUEPRINT: Final[Mapping[str, Json]] = {"algorithm": "blueprint", "candidates": 1}
"""Settings of a planner that plays what a policy prior likes best, which takes no search."""
OVER_BLUEPRINT: Final[Mapping[str, Json]] = {
    **BLUEPRINTS_BUDGET,
    "algorithm": "blueprint",
    "candidates": 3,
    "belief_temper": 1.0,
}
"""Settings of a planner that leaves what a policy prior likes best where another action is better beyond doubt."""


@dataclass(frozen=True)
class Entrant:
    """A planner that takes part in a tournament on the model.

    Attributes:
        value: its value function, as source; None for random rollouts at the leaves.
        prior: its policy prior, as source; None for none.
        settings: planner settings that differ from the tournament's.
        inference: what it infers by beside a program with a joint step, as source; None for none.
    """

    value: str | None = None
    prior: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    inference: str | None = None

    @property
    def beyond_value(self) -> dict[str, Any] | None:
        """What there is besides a value function, None for nothing."""
        inference = {"inference": self.inference} if self.inference else {}
        beyond = {"prior": self.prior, "settings": dict(self.settings), **inference}
        return beyond if self.prior or self.settings or inference else None


@dataclass(frozen=True)
class FunctionReport:
    """What checking said of one function.

    Attributes:
        problems: one line each; empty if every check passed.
        calls_per_s: measured speed, None if it could not be.
        checked: states on which it was checked.
    """

    problems: tuple[str, ...]
    calls_per_s: float | None = None
    checked: int = 0


@dataclass(frozen=True)
class FunctionCandidate:
    """One function.

    Attributes:
        id: number of the candidate, from 0.
        source: the code, "" if the answer held none.
        hash: SHA-256 of the source, "" if there is none.
        status: `checked` (takes part in the tournament) or why not.
        report: what checking said.
        score: in the tournament, None if it did not take part.
    """

    id: int
    source: str
    hash: str
    status: Status
    report: FunctionReport
    score: float | None = None


@dataclass(frozen=True)
class FunctionTested(Event):
    """A function was checked."""

    candidate: int
    status: str
    hash: str
    problems: tuple[str, ...]
    calls_per_s: float | None


@dataclass(frozen=True)
class FunctionChosen(Event):
    """The tournament is over; `chosen` is None if the planner does best without any.

    `decided` says how, in words, where the tournament was to stop in time.
    """

    chosen: Entry
    scores: tuple[tuple[Entry, float], ...]
    decided: str = ""

    def to_json(self) -> dict[str, Any]:
        """Returns the event's fields; older runs know no other way to decide than by the scores."""
        data = super().to_json()
        return data if self.decided else {key: value for key, value in data.items() if key != "decided"}


@dataclass(frozen=True)
class FunctionResult:
    """What came of it.

    Attributes:
        best: the winner, None if a baseline plays at least as well.
        candidates: all, in order of their calls.
        none_score: what the planner without any scored, None if no tournament was needed.
        calls: answers received.
        input_tokens: in all.
        output_tokens: in all.
        message: how it ended, in words.
        baselines: the scores of the further baselines, by name.
        chosen: the winner's number, a baseline's name, or None for the planner without any.
        decided: how the tournament decided, None where the highest score won.
        priors_play: how planners use policy priors.
    """

    best: FunctionCandidate | None
    candidates: tuple[FunctionCandidate, ...]
    none_score: float | None
    calls: int
    input_tokens: int
    output_tokens: int
    message: str
    baselines: dict[str, float] = field(default_factory=dict)
    chosen: Entry = None
    decided: Decided | None = None
    priors_play: PriorsPlay = "tree"

    @property
    def asked(self) -> Self:
        """Candidates, calls and tokens."""
        return self

    @property
    def entrants(self) -> list[str]:
        """Names of those who took part in the tournament, in its order: the simplest first."""
        return ["none", *self.baselines, *(str(item.id) for item in self.candidates if item.score is not None)]

    @property
    def program(self) -> str | None:
        """The source of what was chosen, None if a baseline was."""
        return None if self.best is None else self.best.source

    def to_json(self) -> dict[str, Any]:
        """Returns the result without sources, which the run record holds by hash."""
        further: dict[str, Any] = {"baselines": self.baselines, "chosen": self.chosen} if self.baselines else {}
        if self.decided is not None:
            further["tournament"] = self.decided.to_json(self.entrants)
        return further | {
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
