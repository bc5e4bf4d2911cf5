"""What value functions are written for, and the settings of asking for them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cwm.functions.decided import Played
from cwm.functions.materials import Materials
from cwm.functions.one_shot import FunctionChecker, FunctionKind, FunctionTask, OneShot, Prompts
from cwm.functions.types import (
    Entrant,
    FunctionCandidate,
    FunctionChosen,
    FunctionConfig,
    FunctionResult,
    FunctionTested,
)
from cwm.functions.value_check import ProcessValueChecker
from cwm.interface.program import VALUE_FUNCTION
from cwm.llm.api import LanguageModel
from cwm.record.record import RunRecord
from cwm.suite.build import BuildOptions, build
from cwm.suite.rendering import render
from cwm.suite.types import UnitTest
from cwm.synthesis.events import OnEvent, ignore
from cwm.trajectories.recorded import Trajectory
from cwm.trajectories.telling import UNNAMED, Telling
from games.api import GameInfo, Json

SHOWN_OPEN = 2
SHOWN_ENDS = 3


def task_of(
    rules: str, info: GameInfo, source: str, trajectories: Sequence[Trajectory], telling: Telling = UNNAMED
) -> FunctionTask:
    """Makes the task; its prompt shows a few open states and one end of each result."""
    return FunctionTask(rules, info, source, render(shown_tests(value_tests(trajectories))), telling)


def value_tests(trajectories: Sequence[Trajectory]) -> list[UnitTest]:
    """Returns the tests of a value function: every recorded state, the rewards at the ends."""
    return build(trajectories, BuildOptions(kinds=("value",)))


def shown_tests(tests: Sequence[UnitTest]) -> list[UnitTest]:
    """Returns a few tests for the prompt: the middle of the first games, and ends with different rewards."""
    unfinished = [test for test in tests if test.data["rewards"] is None]
    middle = len(unfinished) // 2
    ends = {str(test.data["rewards"]): test for test in reversed(tests) if test.data["rewards"] is not None}
    return [*unfinished[middle : middle + SHOWN_OPEN], *list(reversed(ends.values()))[:SHOWN_ENDS]]


@dataclass(frozen=True)
class ValueTested(FunctionTested):
    """A value function was checked."""

    kind = "value_tested"


@dataclass(frozen=True)
class ValueChosen(FunctionChosen):
    """The tournament is over; `chosen` is None if random rollouts stay."""

    kind = "value_chosen"


def ask(given: Materials, config: FunctionConfig) -> FunctionResult:
    """Asks for value functions; planners with each of them, and one with rollouts, play each other on the model."""
    games = given.shown()
    checker = ProcessValueChecker(
        given.source,
        value_tests(games),
        given.info,
        given.initial_state,
        given.tester,
        bounds_known=given.telling.bounds_known,
    )

    def tournament(candidates: list[FunctionCandidate | None]) -> Played:
        return given.tournament([Entrant(None if item is None else item.source) for item in candidates])

    task = _task(given)
    return synthesize_values(task, config, given.model, checker, tournament, given.record, given.on_event)


def _task(given: Materials) -> FunctionTask:
    return task_of(given.rules, given.info, given.source, given.shown(), given.telling)


def metadata(result: FunctionResult) -> dict[str, Json]:
    """Returns what a bundle tells of the choice of a value function, {} where the highest score won."""
    if result.decided is None:
        return {}
    chosen = "none" if result.chosen is None else result.chosen
    return {"values": {"chosen": chosen, "tournament": result.decided.to_json(result.entrants)}}


KIND = FunctionKind(
    "value",
    VALUE_FUNCTION,
    "value function",
    "value functions",
    "values",
    FunctionConfig,
    ValueTested,
    ValueChosen,
    "value",
    ask,
    otherwise="rollouts stay",
    unused="rollouts stay",
    metadata=metadata,
    task=_task,
)

Tournament: TypeAlias = Callable[[list[FunctionCandidate | None]], Played]
"""Lets planners with these value functions play each other on the model; None plays with random rollouts."""


def synthesize_values(
    task: FunctionTask,
    config: FunctionConfig,
    model: LanguageModel,
    checker: FunctionChecker,
    tournament: Tournament,
    record: RunRecord | None = None,
    on_event: OnEvent = ignore,
) -> FunctionResult:
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

    def played(candidates: list[FunctionCandidate]) -> Played:
        return tournament([None, *candidates])

    prompts = Prompts(KIND.prompt(task))
    return OneShot(KIND, prompts, task.source, config, model, checker, played, record, on_event).run()
