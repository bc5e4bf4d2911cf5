"""What value functions are written for, and the settings of asking for them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cwm.functions.one_shot import FunctionKind, OneShot, Prompts
from cwm.functions.types import (
    FunctionCandidate,
    FunctionChosen,
    FunctionConfig,
    FunctionConfigError,
    FunctionReport,
    FunctionResult,
    FunctionTested,
)
from cwm.interface import templates, text
from cwm.interface.program import VALUE_FUNCTION
from cwm.llm.api import LanguageModel
from cwm.record.record import RunRecord
from cwm.sandbox.parent.static_check import ALLOWED_MODULES
from cwm.suite.build import BuildOptions, build
from cwm.suite.rendering import render
from cwm.suite.types import UnitTest
from cwm.synthesis.events import OnEvent, ignore
from cwm.trajectories.recorded import Trajectory
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


__all__ = [
    "Tournament",
    "ValueCandidate",
    "ValueChecker",
    "ValueChosen",
    "ValueConfig",
    "ValueConfigError",
    "ValueReport",
    "ValueResult",
    "ValueTask",
    "ValueTested",
    "prompt",
    "synthesize_values",
]

ValueReport: TypeAlias = FunctionReport
ValueCandidate: TypeAlias = FunctionCandidate
ValueResult: TypeAlias = FunctionResult


@dataclass(frozen=True)
class ValueTested(FunctionTested):
    """A value function was checked."""

    kind = "value_tested"


@dataclass(frozen=True)
class ValueChosen(FunctionChosen):
    """The tournament is over; `chosen` is None if random rollouts stay."""

    kind = "value_chosen"


KIND = FunctionKind("value", VALUE_FUNCTION, "value functions", ValueTested, ValueChosen)

ValueChecker: TypeAlias = Callable[[Sequence[str]], list[ValueReport]]
"""Checks value functions on the model, each on its own: floats, rewards at the end, the same twice, speed."""

Tournament: TypeAlias = Callable[[list[ValueCandidate | None]], list[float]]
"""Lets planners with these value functions play each other on the model; None plays with random rollouts.

Returns one score each, larger is better, a function of the candidates and a seed alone.
"""


def prompt(task: ValueTask) -> str:
    """Returns the prompt for one value function."""
    return templates.render(
        "value",
        rules=task.rules,
        player_names=task.info.player_names,
        source=task.source,
        interface=text.render((VALUE_FUNCTION,)),
        min_utility=task.info.min_utility,
        max_utility=task.info.max_utility,
        utility=task.info.utility,
        allowed_modules=sorted(ALLOWED_MODULES),
        tests=task.tests_text,
    )


def synthesize_values(
    task: ValueTask,
    config: ValueConfig,
    model: LanguageModel,
    checker: ValueChecker,
    tournament: Tournament,
    record: RunRecord | None = None,
    on_event: OnEvent = ignore,
) -> ValueResult:
    """Asks for value functions and chooses one, or none.

    Args:
        task: rules, model, tests.
        config: settings.
        model: as the caller composed it.
        checker: checks candidates, see `cwm.functions.value_check.ProcessValueChecker`.
        tournament: plays candidates against each other and against "none".
        record: where programs, scores and events are kept.
        on_event: told of everything that happens.

    Raises:
        LanguageModelError: a call failed for good (other than by a budget's cap).
        TesterError: candidates could not be checked through no fault of theirs.
        RunRecordError: the record cannot be written.
    """

    def scores(candidates: list[ValueCandidate]) -> list[float]:
        return tournament([None, *candidates])

    prompts = Prompts(prompt(task))
    return OneShot(KIND, prompts, task.source, config, model, checker, scores, record, on_event).run()
