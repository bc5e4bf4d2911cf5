"""Value functions: several one-shot candidates, checked, then chosen by a tournament on the model itself.

There is no truth to refine against (the CWM paper, 4.3), so nothing is refined: what plays best stays. "None", which
means random rollouts at the leaves, is always among the candidates.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cwm import api_text, templates
from cwm.function_types import FunctionCandidate, FunctionChosen, FunctionReport, FunctionResult, FunctionTested
from cwm.llm.api import LanguageModel
from cwm.one_shot import FunctionKind, OneShot, Prompts
from cwm.program_api import VALUE_FUNCTION
from cwm.record import RunRecord
from cwm.sandbox.static_check import ALLOWED_MODULES
from cwm.synthesis_events import OnEvent, ignore
from cwm.value_task import ValueConfig, ValueConfigError, ValueTask

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
        interface=api_text.render((VALUE_FUNCTION,)),
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
        checker: checks candidates, see `cwm.value_checking.ProcessValueChecker`.
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
