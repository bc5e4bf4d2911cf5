"""What value functions are written for, and the settings of asking for them."""

from collections.abc import Sequence
from dataclasses import dataclass

from cwm.function_types import FunctionConfig, FunctionConfigError
from cwm.trajectories import Trajectory
from cwm.unit_tests import BuildOptions, UnitTest, build, render
from games.api import GameInfo

SHOWN_OPEN = 2
SHOWN_ENDS = 3


class ValueConfigError(FunctionConfigError):
    """A setting of the value functions is unknown or out of range."""


@dataclass(frozen=True)
class ValueConfig(FunctionConfig):
    """Settings of asking for value functions."""

    error = ValueConfigError


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
