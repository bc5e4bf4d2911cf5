"""Chooses what stands beside a run's model: a value function, then a policy prior that is played together with it, and
how observations become vectors."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from arena.machine.runtime import Runtime
from arena.matches.model_tournament import Entrant, ModelTournament
from arena.pipeline.vector_samples import vector_task
from arena.runs.settings import planner_config
from arena.runs.stage import Stage
from cwm.functions import prior, value
from cwm.functions.kinds import KINDS
from cwm.functions.prior import UNIFORM, PriorConfig, synthesize_priors
from cwm.functions.prior_check import ProcessPriorChecker
from cwm.functions.types import FunctionCandidate, FunctionConfig, FunctionResult
from cwm.functions.value import synthesize_values, value_tests
from cwm.functions.value_check import ProcessValueChecker
from cwm.functions.vectors import SCHEMA, VectorConfig, VectorResult, synthesize_vectors
from cwm.functions.vectors_check import ProcessVectorChecker
from cwm.llm.api import LanguageModel
from cwm.model.bundle import WITH_PRIOR, ModelBundle
from cwm.model.codec import vectors_metadata
from cwm.model.world_model import WorldModel
from cwm.sandbox.parent.host import Sandbox
from cwm.storage.keys import program_hash
from cwm.synthesis.testing import TesterSettings
from cwm.trajectories.recorded import Trajectory, collect

TOURNAMENT_SIMULATIONS = 150
PLAIN: Final[dict[str, Any]] = {"selection": "ucb", "prior": "uniform", "belief_temper": 0.0}
"""Planner settings without any prior."""
WITH_UNIFORM: Final[dict[str, Any]] = {"selection": "puct", "prior": "uniform", "belief_temper": 0.0}


@dataclass(frozen=True)
class Beside:
    """What was chosen.

    Attributes:
        values: the choice of a value function, None if none was asked for.
        priors: the choice of a policy prior, None if none was asked for.
        vectors: how observations become vectors, None if nobody asked.
    """

    values: FunctionResult | None = None
    priors: FunctionResult | None = None
    vectors: VectorResult | None = None

    @property
    def results(self) -> dict[str, FunctionResult | VectorResult | None]:
        """What came of each kind, by its name in the result of a run; None for what was not asked for."""
        return {kind.result: getattr(self, kind.result) for kind in KINDS}

    @property
    def plays_with(self) -> dict[str, Any]:
        """Planner settings that won, {} if no prior was asked for or none could take part."""
        if self.priors is None or self.priors.none_score is None:
            return {}
        leaf = "rollout" if self.values is None or self.values.best is None else "value"
        return {"leaf": leaf, **_settings(self.priors.best, self.priors.chosen == UNIFORM)}

    def added_to(self, bundle: ModelBundle) -> ModelBundle:
        """Returns the model with the winners beside it."""
        values, priors, vectors = self.values, self.priors, self.vectors
        return replace(
            bundle,
            value_source=None if values is None or values.best is None else values.best.source,
            prior_source=None if priors is None or priors.best is None else priors.best.source,
            vectors_source=None if vectors is None else vectors.program,
            schema=vectors.schema.to_json() if vectors is not None and vectors.chosen == SCHEMA else None,
        )

    def metadata(self) -> dict[str, Any]:
        """Returns what a bundle tells of the choice of a prior and of vectors."""
        told = {} if self.vectors is None else {"vectors": vectors_metadata(self.vectors)}
        return told | self._of_priors()

    def _of_priors(self) -> dict[str, Any]:
        if self.priors is None:
            return {}
        scores = {"none": self.priors.none_score, **self.priors.baselines}
        scores |= {str(item.id): item.score for item in self.priors.candidates if item.score is not None}
        chosen = "none" if self.priors.chosen is None else self.priors.chosen
        told: dict[str, Any] = {"priors": {"chosen": chosen, "scores": scores}}
        return told | ({"plays_with": self.plays_with} if self.plays_with else {})


def _settings(prior: FunctionCandidate | None, uniform: bool) -> dict[str, Any]:
    if prior is not None:
        return dict(WITH_PRIOR)
    return WITH_UNIFORM if uniform else PLAIN


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
        """Chooses for a model that passes its tests.

        Raises:
            LanguageModelError: a call failed for good (other than by a budget's cap).
            TesterError: a candidate could not be checked or played through no fault of its own.
        """
        stage = self.stage
        games = self._games(bundle)
        values = None if stage.settings.value is None else self._values(bundle, stage.settings.value, games)
        vectors = None if stage.settings.vectors is None else self._vectors(bundle, stage.settings.vectors)
        if stage.settings.prior is None:
            return Beside(values, None, vectors)
        with_values = Beside(values).added_to(bundle)
        return Beside(values, self._priors(with_values, stage.settings.prior, games), vectors)

    def _games(self, bundle: ModelBundle) -> tuple[Trajectory, ...]:
        """Returns games whose states may be shown and tested; a model of the closed deck plays them itself: it has
        states of its own, and those of the recorded games are hidden."""
        stage = self.stage
        if stage.settings.deck == "open" or (stage.settings.value is None and stage.settings.prior is None):
            return stage.inputs.train
        with WorldModel(bundle, Sandbox(level=stage.settings.level)) as model:
            return tuple(collect(model, len(stage.inputs.train), stage.settings.seed))

    def _values(self, bundle: ModelBundle, config: FunctionConfig, games: Sequence[Trajectory]) -> FunctionResult:
        stage = self.stage
        stage.on_stage("synthesising value functions")
        task = value.task_of(stage.inputs.rules, stage.inputs.info, bundle.source, games)
        checker = ProcessValueChecker(
            bundle.source,
            value_tests(games),
            stage.inputs.info,
            stage.inputs.initial_state,
            self._test_settings(),
            # The bounds of a user's own game are those of the few recorded games: others may pay more.
            bounds_known=stage.settings.registered,
        )
        return synthesize_values(
            task, config, self.model, checker, self._tournament(bundle), stage.record, stage.on_event
        )

    def _priors(self, bundle: ModelBundle, config: PriorConfig, games: Sequence[Trajectory]) -> FunctionResult:
        stage = self.stage
        stage.on_stage("synthesising policy priors")
        task = prior.task_of(stage.inputs.rules, stage.inputs.info, bundle.source, games)
        checker = ProcessPriorChecker(
            bundle.source, stage.inputs.info, stage.inputs.initial_state, config, self._test_settings()
        )
        tournament = self._tournament(bundle)

        def scores(candidates: list[FunctionCandidate]) -> list[float]:
            leaf = bundle.value_source
            baselines = [Entrant(leaf, None, PLAIN), Entrant(leaf, None, WITH_UNIFORM)]
            entrants = [Entrant(leaf, candidate.source, WITH_PRIOR) for candidate in candidates]
            return tournament.play([*baselines, *entrants])

        context = {
            "value": None if bundle.value_source is None else program_hash(bundle.value_source),
            "deals": tournament.deals,
            "simulations": TOURNAMENT_SIMULATIONS,
        }
        return synthesize_priors(task, config, self.model, checker, scores, context, stage.record, stage.on_event)

    def _vectors(self, bundle: ModelBundle, config: VectorConfig) -> VectorResult:
        stage = self.stage
        stage.on_stage("choosing how observations become vectors")
        task = vector_task(bundle, stage.inputs, stage.settings, config)
        checker = ProcessVectorChecker(task.samples, stage.inputs.info, self._test_settings())
        return synthesize_vectors(task, config, self.model, checker, checker.round_trip, stage.record, stage.on_event)

    def _test_settings(self) -> TesterSettings:
        stage = self.stage
        return TesterSettings.of(stage.settings.synthesis, workers=1, level=stage.settings.level)

    def _tournament(self, bundle: ModelBundle) -> ModelTournament:
        stage = self.stage
        config = planner_config(stage.settings, stage.inputs.info.perfect_information, TOURNAMENT_SIMULATIONS)
        return ModelTournament(
            bundle,
            replace(config, rollouts=1),
            deals=stage.settings.tournament_deals,
            seed=stage.settings.seed,
            runtime=Runtime(level=stage.settings.level),
            workers=stage.workers,
        )
