"""Asks for functions beside a program with a joint step: prompts, checks, repairs, and the choice on the program."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from cwm.functions.decided import Played
from cwm.functions.joint.check import JointChecker
from cwm.functions.joint.task import JointFunctionTask
from cwm.functions.materials import Materials
from cwm.functions.one_shot import FunctionKind, OneShot, Prompts
from cwm.functions.types import Entrant, FunctionCandidate, FunctionConfig, FunctionConfigError, FunctionResult
from cwm.storage.keys import program_hash
from games.api import Json

PLAIN: Final[Mapping[str, Json]] = {"method": "pomcp"}
"""Settings of a planner without any function."""
BY_VALUE: Final[Mapping[str, Json]] = {"leaf": "value"}
BY_PRIOR: Final[Mapping[str, Json]] = {"method": "potmmcp", "types": ["prior"], "episodes": 1}
"""Settings of a planner that takes the others to choose by a policy, and is led by it; one type needs no payoffs."""
BY_INFERENCE: Final[Mapping[str, Json]] = {"belief": "inferred"}


@dataclass(frozen=True)
class JointConfig(FunctionConfig):
    """Settings of asking for functions beside a program with a joint step.

    Attributes:
        repairs: further calls for a candidate whose checks fail.
        games: games on the program that are checked.
    """

    repairs: int = 1
    games: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.repairs < 0 or self.games < 2:
            raise FunctionConfigError(
                f"repairs must be at least 0 and games 2; given repairs={self.repairs}, games={self.games}"
            )


def settings_beside(given: Materials) -> dict[str, Json]:
    """Returns the settings of a planner with what was chosen before."""
    settings = dict(PLAIN)
    settings |= BY_VALUE if "value" in given.beside else {}
    settings |= BY_PRIOR if "prior" in given.beside else {}
    return settings


def ask(
    given: Materials,
    kind: FunctionKind,
    config: FunctionConfig,
    repairs: int,
    task: JointFunctionTask,
    checker: JointChecker,
    entrant: Callable[[Entrant, FunctionCandidate], Entrant],
) -> FunctionResult:
    """Asks for functions of one kind; planners with each of them and one without, all with what was chosen before, play
    each other on the program.

    Args:
        given: the program, and what was chosen before.
        kind: what is asked for.
        config: settings of asking.
        repairs: further calls for a candidate whose checks fail.
        task: what they are written for.
        checker: checks them.
        entrant: gives the planner without any a candidate.

    Raises:
        LanguageModelError: a call failed for good (other than by a budget's cap).
        TesterError: candidates could not be checked through no fault of theirs.
        RunRecordError: the record cannot be written.
    """
    without = Entrant(given.beside.get("value"), given.beside.get("prior"), settings_beside(given))

    def tournament(candidates: list[FunctionCandidate]) -> Played:
        return given.tournament([without, *(entrant(without, item) for item in candidates)])

    before = {name: program_hash(source) for name, source in sorted(given.beside.items())}
    context: dict[str, Any] = {"kind": kind.name, "beside": before, "joint": True, **given.context}
    prompts = Prompts(kind.prompt(task), lambda candidate: kind.repair_prompt(task, candidate, config), repairs)
    asked = replace(kind, context=context)
    asks = OneShot(asked, prompts, given.source, config, given.model, checker, tournament, given.record, given.on_event)
    return asks.run()


def with_settings(entrant: Entrant, settings: Mapping[str, Json], **sources: str) -> Entrant:
    """Returns a planner with further settings and functions."""
    return replace(entrant, settings={**entrant.settings, **settings}, **sources)


def chosen(result: FunctionResult) -> str | int:
    """Returns the winner's number, or `none`."""
    return "none" if result.chosen is None else result.chosen


def about(result: FunctionResult) -> dict[str, Json]:
    """Returns what a bundle tells of a choice."""
    scores = {"none": result.none_score}
    scores |= {str(item.id): item.score for item in result.candidates if item.score is not None}
    told: dict[str, Json] = {"chosen": chosen(result), "scores": scores}
    return told if result.decided is None else told | {"tournament": result.decided.to_json(result.entrants)}
