"""What policy priors are written for, and the settings of asking for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from cwm.functions.decided import Played
from cwm.functions.materials import Materials
from cwm.functions.one_shot import (
    FunctionChecker,
    FunctionKind,
    FunctionTask,
    FunctionTournament,
    OneShot,
    Prompts,
)
from cwm.functions.prior_check import ProcessPriorChecker
from cwm.functions.types import (
    AS_BLUEPRINT,
    BLUEPRINTS_BUDGET,
    OVER_BLUEPRINT,
    WITH_PRIOR,
    WITH_UNIFORM,
    WITHOUT_PRIOR,
    Entrant,
    FunctionCandidate,
    FunctionChosen,
    FunctionConfig,
    FunctionConfigError,
    FunctionResult,
    FunctionTested,
)
from cwm.interface.program import POLICY_FUNCTION
from cwm.llm.api import LanguageModel
from cwm.record.record import RunRecord
from cwm.storage.keys import program_hash
from cwm.synthesis.events import OnEvent, ignore
from cwm.trajectories.recorded import Trajectory
from cwm.trajectories.telling import UNNAMED, Telling
from games.api import Action, GameInfo, Json, Observation

SHOWN_ACTIONS = 16
SHOWN_DECISIONS = 3
SHOWN_PLACES = (0.0, 0.45, 0.9)
"""How far into a game the examples lie, as a share of its players' decisions."""


@dataclass(frozen=True)
class PriorConfig(FunctionConfig):
    """Settings of asking for policy priors.

    Attributes:
        repairs: further calls for a candidate whose checks fail.
        games: games on the model whose decision points are checked, half of them random, half drawn from the prior.
        points: decision points at which the hidden part of the state is swapped.
        draws: how often at each.
    """

    min_calls_per_s: float = 500.0
    repairs: int = 1
    games: int = 40
    points: int = 400
    draws: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.repairs < 0 or self.games < 2 or self.points < 1 or self.draws < 1:
            raise FunctionConfigError(
                f"repairs must be at least 0, games 2, points and draws 1; given repairs={self.repairs}, "
                f"games={self.games}, points={self.points}, draws={self.draws}"
            )


def task_of(
    rules: str, info: GameInfo, source: str, trajectories: Sequence[Trajectory], telling: Telling = UNNAMED
) -> FunctionTask:
    """Makes the task; its prompt shows an early, a middle and a late moment, each of another game."""
    return FunctionTask(rules, info, source, examples(trajectories, info.perfect_information), telling)


def examples(trajectories: Sequence[Trajectory], perfect_information: bool) -> str:
    """Returns moments of recorded games as text: the arguments of the function, and what the player has seen."""
    shown: list[str] = []
    # The longest games: they show the most phases.
    games = sorted(trajectories, key=lambda game: (-len(_decisions(game)), game.index))
    games = [game for game in games if _decisions(game)]
    for number, place in enumerate(SHOWN_PLACES if games else ()):
        game = games[number % len(games)]
        decisions = _decisions(game)
        step = decisions[round(place * (len(decisions) - 1))]
        shown.append(_example(game, step, number + 1, perfect_information))
    return "\n\n".join(shown)


def _decisions(game: Trajectory) -> list[int]:
    """Returns the steps at which a player has a choice, or, where there never is one, all of its turns."""
    turns = [number for number, step in enumerate(game.steps) if step.player >= 0]
    return [number for number in turns if len(game.steps[number].legal_actions) > 1] or turns


def _example(game: Trajectory, number: int, label: int, perfect_information: bool) -> str:
    step = game.steps[number]
    lines = [
        f"# Example {label}",
        f"state = {step.state!r}",
        f"player_id = {step.player}",
        f"legal_actions = {_shortened(step.legal_actions)}",
    ]
    if not perfect_information:
        lines += _seen(game.history(step.player, number))
    return "\n".join(lines)


def _shortened(actions: Sequence[Action]) -> str:
    if len(actions) <= SHOWN_ACTIONS:
        return repr(list(actions))
    shown = ", ".join(map(repr, actions[:SHOWN_ACTIONS]))
    return f"[{shown}, ...]  # {len(actions)} in all"


def _seen(history: Sequence[tuple[Observation, Action | None]]) -> list[str]:
    earlier = history[:-1]
    left_out = max(0, len(earlier) - SHOWN_DECISIONS)
    lines = [f"# What this player has seen, at its own turns so far ({len(history)}), and what it did then:"]
    if left_out:
        lines.append(f"#   (the first {left_out} are left out)")
    lines += [f"#   saw {observation!r}, did {action!r}" for observation, action in earlier[left_out:]]
    return [*lines, f"#   sees now {history[-1][0]!r}"]


UNIFORM: Final = "uniform"
"""The baseline with a uniform prior."""


@dataclass(frozen=True)
class PriorTested(FunctionTested):
    """A policy prior was checked."""

    kind = "prior_tested"


@dataclass(frozen=True)
class PriorChosen(FunctionChosen):
    """The tournament is over; `chosen` is `uniform`, or None if the planner without prior stays."""

    kind = "prior_chosen"


def ask(given: Materials, config: PriorConfig) -> FunctionResult:
    """Asks for policy priors; planners with each, one with a uniform prior and one without play each other, all with
    the value function that was chosen before. Where priors are to be blueprints, each is played as it stands."""
    leaf = given.beside.get("value")
    checker = ProcessPriorChecker(
        given.source,
        given.info,
        given.initial_state,
        given.tester,
        games=config.games,
        points=config.points,
        draws=config.draws,
    )

    blueprint = given.priors_play == "blueprint"

    def tournament(candidates: list[FunctionCandidate]) -> Played:
        budget = BLUEPRINTS_BUDGET if blueprint else {}
        baselines = [Entrant(leaf, None, {**plain, **budget}) for plain in (WITHOUT_PRIOR, WITH_UNIFORM)]
        plays = AS_BLUEPRINT if blueprint else WITH_PRIOR
        return given.tournament([*baselines, *(Entrant(leaf, item.source, plays) for item in candidates)])

    task = _task(given)
    context = {"value": None if leaf is None else program_hash(leaf), **given.context}
    # Keys of tournaments that were played before there were blueprints stay what they were.
    context |= {"priors_play": given.priors_play} if blueprint else {}
    found = synthesize_priors(task, config, given.model, checker, tournament, context, given.record, given.on_event)
    return replace(found, priors_play=given.priors_play)


def _task(given: Materials) -> FunctionTask:
    return task_of(given.rules, given.info, given.source, given.shown(), given.telling)


def plays_with(result: FunctionResult) -> dict[str, Json]:
    """Returns the planner settings that won, {} if no prior could take part."""
    if result.none_score is None:
        return {}
    if result.best is not None:
        return dict(OVER_BLUEPRINT if result.priors_play == "blueprint" else WITH_PRIOR)
    return dict(WITH_UNIFORM if result.chosen == UNIFORM else WITHOUT_PRIOR)


def metadata(result: FunctionResult) -> dict[str, Json]:
    """Returns what a bundle tells of the choice of a prior."""
    scores = {"none": result.none_score, **result.baselines}
    scores |= {str(item.id): item.score for item in result.candidates if item.score is not None}
    about: dict[str, Json] = {"chosen": "none" if result.chosen is None else result.chosen, "scores": scores}
    if result.decided is not None:
        about["tournament"] = result.decided.to_json(result.entrants)
    settings = plays_with(result)
    return {"priors": about} | ({"plays_with": settings} if settings else {})


KIND = FunctionKind(
    "prior",
    POLICY_FUNCTION,
    "policy prior",
    "policy priors",
    "priors",
    PriorConfig,
    PriorTested,
    PriorChosen,
    "policy",
    ask,
    too_slow="It is too slow: it answers {measured:,.0f} calls a second, at least {needed:,.0f} are needed.",
    otherwise="the planner stays without",
    unused="no prior is used",
    baselines=(None, UNIFORM),
    metadata=metadata,
    task=_task,
)


def synthesize_priors(
    task: FunctionTask,
    config: PriorConfig,
    model: LanguageModel,
    checker: FunctionChecker,
    tournament: FunctionTournament,
    context: Mapping[str, Any],
    record: RunRecord | None = None,
    on_event: OnEvent = ignore,
) -> FunctionResult:
    """Asks for policy priors and chooses one, the uniform one, or none.

    Args:
        task: rules, model, examples.
        config: settings.
        model: as the caller composed it.
        checker: checks candidates, see `cwm.functions.prior_check.ProcessPriorChecker`.
        tournament: plays "none", "uniform" and the candidates against each other.
        context: what else decides the scores, e.g. the value function: part of the key under which they are stored.
        record: where programs, scores and events are kept.
        on_event: told of everything that happens.

    Raises:
        LanguageModelError: a call failed for good (other than by a budget's cap).
        TesterError: candidates could not be checked through no fault of theirs.
        RunRecordError: the record cannot be written.
    """
    prompts = Prompts(KIND.prompt(task), lambda candidate: KIND.repair_prompt(task, candidate, config), config.repairs)
    kind = replace(KIND, context={"kind": KIND.name, **context})
    return OneShot(kind, prompts, task.source, config, model, checker, tournament, record, on_event).run()
