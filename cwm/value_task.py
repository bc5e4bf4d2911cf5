"""What value functions are written for, and the settings of asking for them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from cwm.trajectories import Trajectory
from cwm.unit_tests import BuildOptions, UnitTest, build, render
from games.api import GameInfo

SHOWN_OPEN = 2
SHOWN_ENDS = 3


class ValueConfigError(ValueError):
    """A setting of the value functions is unknown or out of range."""


@dataclass(frozen=True)
class ValueConfig:
    """Settings.

    Attributes:
        num_candidates: value functions asked for, one call each.
        max_output_tokens: cap of an answer, reasoning included.
        max_truncated_retries: a truncated answer is asked for again, at most so often, with a larger cap.
        truncated_growth: how much larger, as a factor.
        temperature: sampling temperature, None for the provider's default.
        min_calls_per_s: a slower function is no help to a search.
        margin: a candidate must score more than "none" by more than this, in the tournament's units.
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
            raise ValueConfigError(
                "num_candidates and max_output_tokens must be at least 1, truncated_growth above 1, margin at least 0; "
                f"given {self}"
            )

    def to_json(self) -> dict[str, Any]:
        """Returns all settings."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ValueConfig":
        """Builds a configuration that a user wrote.

        Raises:
            ValueConfigError: a key is unknown or a value out of range.
        """
        known = [field.name for field in fields(cls)]
        unknown = sorted(set(data) - set(known))
        if unknown:
            raise ValueConfigError(f"unknown settings {unknown}; known are {', '.join(known)}")
        return cls(**data)

    @classmethod
    def from_record(cls, data: Mapping[str, Any]) -> "ValueConfig":
        """Builds a configuration out of an old record: settings that are no longer known are passed over."""
        known = {field.name for field in fields(cls)}
        return cls(**{key: value for key, value in data.items() if key in known})


@dataclass(frozen=True)
class ValueTask:
    """What value functions are written for.

    Attributes:
        rules: the rules in words.
        info: players, utility, bounds.
        source: the synthesised model.
        tests_text: the value tests as text, for the prompt.
    """

    rules: str
    info: GameInfo
    source: str
    tests_text: str

    @classmethod
    def of(cls, rules: str, info: GameInfo, source: str, trajectories: Sequence[Trajectory]) -> "ValueTask":
        """Makes the task; its prompt shows a few open states and one end of each result."""
        return cls(rules, info, source, render(shown_tests(value_tests(trajectories))))


def value_tests(trajectories: Sequence[Trajectory]) -> list[UnitTest]:
    """Returns the tests of a value function: every recorded state, the rewards at the ends."""
    return build(trajectories, BuildOptions(kinds=("value",)))


def shown_tests(tests: Sequence[UnitTest]) -> list[UnitTest]:
    """Returns a few tests for the prompt: the middle of the first games, and ends with different rewards."""
    unfinished = [test for test in tests if test.data["rewards"] is None]
    middle = len(unfinished) // 2
    ends = {str(test.data["rewards"]): test for test in reversed(tests) if test.data["rewards"] is not None}
    return [*unfinished[middle : middle + SHOWN_OPEN], *list(reversed(ends.values()))[:SHOWN_ENDS]]
