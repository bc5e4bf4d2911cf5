"""Chooses what stands beside a run's model: functions of every kind that was asked for, in the order of their table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from arena.machine.runtime import Runtime
from arena.matches.model_tournament import ModelTournament
from arena.pipeline.self_play import self_play
from arena.pipeline.timely_tournament import TimelyTournament
from arena.runs.settings import planner_config
from arena.runs.stage import Stage
from arena.usage import UsageError
from cwm.functions.decided import Played
from cwm.functions.joint.kinds import every_kind, kinds_for
from cwm.functions.materials import FunctionOutcome, Materials
from cwm.functions.types import Entrant, FunctionConfig
from cwm.llm.api import BudgetExceededError, LanguageModel, LanguageModelError
from cwm.llm.concurrency import SideBySide, answers_of
from cwm.model.bundle import ModelBundle
from cwm.model.world_model import WorldModel
from cwm.sandbox.parent.host import Sandbox
from cwm.synthesis.testing import TesterSettings
from cwm.trajectories.recorded import Trajectory, collect
from games.api import Game
from games.posg.serialised import SerialisedPosg
from search.api import PlannerConfig
from search.posg.config import PosgPlannerConfig

TOURNAMENT_SIMULATIONS = 150
JOINT_SIMULATIONS = 100
JOINT_PARTICLES = 100
"""Of a belief, where agents act at the same time."""
FEWEST_TOGETHER = 2
"""Kinds of functions that are asked for at once; one alone asks all of its questions at once itself."""


@dataclass(frozen=True)
class Beside:
    """What was chosen.

    Attributes:
        chosen: what came of each kind that was asked for, by its name, in the order of asking.
        joint: whether the program has a joint step.
    """

    chosen: Mapping[str, FunctionOutcome] = field(default_factory=dict)
    joint: bool = False

    @property
    def results(self) -> dict[str, FunctionOutcome | None]:
        """What came of each kind, by its name in the result of a run; None for what was not asked for, of kinds that
        every result tells of."""
        shown = {kind.name for kind in kinds_for(joint=False)} | self.chosen.keys()
        return {kind.result: self.chosen.get(kind.name) for kind in every_kind() if kind.name in shown}

    @property
    def programs(self) -> dict[str, str]:
        """Sources of the winners, by kind."""
        return {name: item.program for name, item in self.chosen.items() if item.program is not None}

    def added_to(self, bundle: ModelBundle) -> ModelBundle:
        """Returns the model with the winners beside it."""
        for kind in kinds_for(self.joint):
            if outcome := self.chosen.get(kind.name):
                bundle = bundle.with_function(kind.name, outcome.program, **kind.fields(outcome))
        return bundle

    def metadata(self) -> dict[str, Any]:
        """Returns what a bundle tells of the choices, with the planner settings that won."""
        about: dict[str, Any] = {}
        plays_with: dict[str, Any] = {}
        for kind in reversed(kinds_for(self.joint)):
            told = kind.metadata(self.chosen[kind.name]) if kind.name in self.chosen else {}
            plays_with |= told.get("plays_with", {})
            about |= told
        if "plays_with" in about:
            about["plays_with"] = {"leaf": "value" if "value" in self.programs else "rollout", **plays_with}
        return about


@dataclass(frozen=True)
class FunctionChoice:
    """Asks for the functions beside a model and chooses among them; each stage is served from the record.

    Attributes:
        stage: of the run.
        model: the language model.
    """

    stage: Stage
    model: LanguageModel

    def choose(self, bundle: ModelBundle) -> Beside:
        """Chooses for a model that passes its tests; a kind is told what was chosen of those before it.

        Raises:
            LanguageModelError: a call failed for good (other than by a budget's cap).
            TesterError: a candidate could not be checked or played through no fault of its own.
        """
        asked = self.stage.settings.asked_functions
        materials = self._materials(bundle)
        self._ask_ahead(materials)
        beside = Beside(joint=bundle.joint)
        for kind in kinds_for(bundle.joint):
            if kind.name in asked:
                self.stage.on_stage(kind.begins)
                outcome = kind.ask(replace(materials, beside=beside.programs), asked[kind.name])
                beside = replace(beside, chosen={**beside.chosen, kind.name: outcome})
        return beside

    @property
    def _joint(self) -> bool:
        return self.stage.settings.joint

    def _ask_ahead(self, materials: Materials) -> None:
        """Puts the first questions of several kinds at once, where that is allowed; their answers wait in the record.

        Raises:
            LanguageModelError: a call failed for good (other than by a budget's cap).
        """
        asked = self.stage.settings.asked_functions
        kinds = [kind for kind in kinds_for(self._joint) if kind.name in asked and kind.task is not None]
        if len(kinds) < FEWEST_TOGETHER or not isinstance(self.model, SideBySide):
            return
        self.stage.on_stage(f"asking for {' and '.join(kind.words for kind in kinds)}")
        questions = [item for kind in kinds for item in kind.first_questions(materials, asked[kind.name])]
        for answer in answers_of(self.model, questions, self.model.at_once):
            if isinstance(answer, LanguageModelError) and not isinstance(answer, BudgetExceededError):
                raise answer

    def _materials(self, bundle: ModelBundle) -> Materials:
        stage = self.stage
        settings, inputs = stage.settings, stage.inputs
        tournament = self._tournament(bundle)
        return Materials(
            rules=inputs.rules,
            info=inputs.info,
            initial_state=inputs.initial_state,
            source=bundle.source,
            beside={},
            recorded=inputs.train,
            held_out=inputs.held_out,
            deck=settings.deck,
            shown=cache(lambda: self._shown(bundle)),
            telling=inputs.telling,
            self_play=lambda *sizes: self_play(bundle, settings, *sizes),
            tournament=self._played(tournament),
            priors_play=settings.priors_play,
            context=self._context(),
            tester=TesterSettings.of(settings.synthesis, workers=1, level=settings.level),
            model=self.model,
            record=stage.record,
            on_event=stage.on_event,
            joint=inputs.joint_info,
        )

    def _shown(self, bundle: ModelBundle) -> Sequence[Trajectory]:
        """Returns games whose states may be shown and tested; a model of the closed deck plays them itself: it has
        states of its own, and those of the recorded games are hidden."""
        stage = self.stage
        if stage.settings.deck == "open":
            return stage.inputs.train
        with WorldModel(bundle, Sandbox(level=stage.settings.level)) as model:
            return tuple(collect(model, len(stage.inputs.train), stage.settings.seed))

    def _played(self, tournament: ModelTournament) -> Callable[[Sequence[Entrant]], Played]:
        seconds = self.stage.settings.tournament_budget
        if seconds is not None:
            return TimelyTournament(tournament, seconds, self.stage.record, self.stage.on_stage).play
        return lambda entrants: Played(tuple(tournament.play(entrants)))

    def _context(self) -> dict[str, Any]:
        settings = self.stage.settings
        simulations = JOINT_SIMULATIONS if self._joint else TOURNAMENT_SIMULATIONS
        context: dict[str, Any] = {"deals": settings.tournament_deals, "simulations": simulations}
        if settings.tournament_budget is not None:
            context["seconds"] = settings.tournament_budget
        return context

    def _tournament(self, bundle: ModelBundle) -> ModelTournament:
        stage = self.stage
        return ModelTournament(
            as_recorded(bundle, stage.inputs.game),
            self._planner(),
            deals=stage.settings.tournament_deals,
            seed=stage.settings.seed,
            runtime=Runtime(level=stage.settings.level),
            workers=stage.workers,
        )

    def _planner(self) -> PlannerConfig | PosgPlannerConfig:
        stage = self.stage
        if self._joint:
            return PosgPlannerConfig(method="pomcp", simulations=JOINT_SIMULATIONS, particles=JOINT_PARTICLES)
        perfect = stage.inputs.info.perfect_information
        return replace(planner_config(stage.settings.matches, perfect, TOURNAMENT_SIMULATIONS), rollouts=1)


def as_recorded(bundle: ModelBundle, game: Game | None) -> ModelBundle:
    """Returns a model as the game that is recorded: its games are broken off as early.

    Args:
        bundle: the model.
        game: as it is recorded; None for a user's own.
    """
    if not bundle.joint or not isinstance(game, SerialisedPosg):
        return bundle
    joint = {**bundle.info["joint"], "step_limit": game.model.info.step_limit}
    length = game.info.max_length
    return replace(bundle, info={**bundle.info, "max_length": length, "joint": joint})


def functions_asked(
    numbers: Mapping[str, int | None], further: Sequence[str], seed: int, joint: bool = False
) -> dict[str, FunctionConfig]:
    """Returns the settings of the kinds of functions that are asked for, by their names.

    Args:
        numbers: candidates by kind, as options of their own ask for; 0 or None for none.
        further: `KIND=NUMBER` each.
        seed: of the checks.
        joint: whether the program has a joint step.

    Raises:
        UsageError: there is no such kind, a number is none, or a kind is asked for twice.
    """
    kinds = {kind.name: kind for kind in kinds_for(joint)}
    asked = {name: number for name, number in numbers.items() if number}
    for name in asked.keys() - kinds:
        raise UsageError(f"The option `{name}` is for games in turns, and this program has a joint step: leave it out.")
    for text in further:
        name, _, number = text.partition("=")
        if name not in kinds or not number.isdecimal() or int(number) < 1:
            raise UsageError(f"{text!r} asks for no functions: write KIND=NUMBER, the kind one of {', '.join(kinds)}.")
        if name in asked:
            raise UsageError(f"The number of {kinds[name].words} is given twice: leave out {text!r} or the other.")
        asked[name] = int(number)
    return {name: kinds[name].config(num_candidates=number, seed=seed) for name, number in asked.items()}
