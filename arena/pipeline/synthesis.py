"""One synthesis run from inputs to report: every stage is stored, so that the same call goes on after a kill."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from arena.evaluation.split_accuracy import SplitAccuracy
from arena.matches.plan import TournamentConfig
from arena.matches.tournament import Progress, TournamentResult
from arena.pipeline import matches as run_matches
from arena.pipeline import speed
from arena.pipeline.function_choice import Beside, FunctionChoice
from arena.pipeline.further_games import FurtherGames
from arena.pipeline.speed import SpeedStep
from arena.runs import inputs as run_inputs
from arena.runs import language_model
from arena.runs.folder import MODEL
from arena.runs.inputs import Inputs
from arena.runs.settings import RunSettings, planner_config
from arena.runs.stage import Stage
from arena.runs.task import make_task
from arena.runs.turns import Among
from cwm.llm.budget import ShareOfBudget, Tally
from cwm.llm.caps import Caps, budget, write_elapsed
from cwm.model.bundle import ModelBundle, describe, rules_hash
from cwm.record.record import RunRecord
from cwm.speed.refinement import SpeedResult
from cwm.synthesis.driver import synthesize
from cwm.synthesis.dry_run import DryRun, dry_run
from cwm.synthesis.events import Event, OnEvent, ignore
from cwm.synthesis.result import SynthesisResult
from cwm.synthesis.task import SynthesisTask
from cwm.synthesis.testing import ProcessTester, TesterSettings

SYNTHESISING = "synthesising the model"
"""The stage in which a language model is asked."""


@dataclass(frozen=True)
class Outcome:
    """What a run came to.

    Attributes:
        synthesis: candidates, calls, tokens.
        bundle: the finished model, None if no program ever loaded.
        evaluations: by split: `train`, `test`, `planner`, `online`.
        tally: usage by purpose.
        beside: what was chosen of the functions beside the model.
        faster: the speed refinement, None if none was asked for or the model does not pass its tests.
    """

    synthesis: SynthesisResult
    bundle: ModelBundle | None
    evaluations: dict[str, Any]
    tally: dict[str, Any]
    beside: Beside = Beside()  # noqa: RUF009
    faster: SpeedResult | None = None

    @property
    def exact(self) -> bool:
        """Whether every training test passes."""
        return self.synthesis.best is not None and self.synthesis.best.report.passes

    def cap_reached(self, settings: RunSettings) -> str | None:
        """Returns which cap ended the calls for the model or for what came after it, None if none did."""
        if self.synthesis.reason == "budget":
            return self.synthesis.message
        if self.faster is not None and self.faster.capped:
            return self.faster.message
        for name, config in settings.asked_functions.items():
            outcome = self.beside.chosen.get(name)
            if outcome is not None and len(outcome.asked.candidates) < config.num_candidates:
                return outcome.asked.message
        return None


def matches_config(
    folder: Path, settings: RunSettings, inputs: Inputs, bundle: ModelBundle | None
) -> TournamentConfig | None:
    """Returns the tournament of a run's matches, None if none is to be played."""
    if settings.matches is None or inputs.game is None or bundle is None:
        return None
    perfect = inputs.info.perfect_information
    config = planner_config(settings.matches, perfect, settings.matches.simulations)
    return run_matches.prepare(inputs.game, folder / MODEL, bundle, settings, settings.matches, config)


def stored_matches(
    folder: Path, settings: RunSettings, inputs: Inputs, bundle: ModelBundle | None
) -> TournamentResult | None:
    """Returns what the record holds of a run's matches, None if there are none; plays nothing."""
    prepared = matches_config(folder, settings, inputs, bundle)
    return None if prepared is None else run_matches.stored(folder, prepared)


class SynthesisRun:
    """The stages of one run, in order; each is served from the record if it was finished before.

    Args:
        record: the run's folder, open for writing.
        settings: as stored.
        inputs: rules and games.
        caps: hard limits on calls, tokens, money, time.
        workers: processes at once; changes no result.
        recording: file that every answer is added to, None for none.
        on_event: told of everything.
        on_stage: told in words what begins.
        among: what it shares with runs beside it, None if there are none.
    """

    def __init__(
        self,
        record: RunRecord,
        settings: RunSettings,
        inputs: Inputs,
        caps: Caps,
        workers: int = 2,
        recording: Path | None = None,
        on_event: OnEvent = ignore,
        on_stage: Callable[[str], None] = lambda text: None,
        among: Among | None = None,
    ) -> None:
        self.record = record
        self.settings = settings
        self.inputs = inputs
        self._listener = on_event
        self._among = among
        self._budget = budget(caps) if among is None else ShareOfBudget(among.common, calls=among.calls)
        turn = None if among is None else among.turn
        self._stage = Stage(record, settings, inputs, workers, self._on_event, on_stage)
        self._model = language_model.compose(settings, caps, record, self._budget, recording, turn=turn)
        self._speed_asked = speed.asked_of(record.folder, settings)
        self._speed_model = self._model
        if self._speed_asked is not None and self._speed_asked.llm is not None:
            other = replace(settings, llm=self._speed_asked.llm, base_url=self._speed_asked.base_url)
            self._speed_model = language_model.compose(other, caps, record, self._budget, recording, False, turn)
        self._splits = SplitAccuracy(self._stage)
        self._functions = FunctionChoice(self._stage, self._model)

    def _on_event(self, event: Event) -> None:
        write_elapsed(self.record.folder, self._budget)
        if self._among is not None:
            self._among.count_time()
        self._listener(event)

    def run(self) -> Outcome:
        """Synthesises, chooses what stands beside the model, evaluates, and stores the model."""
        made = self.model()
        if made.bundle is None:
            return made
        evaluations = self._splits.finished(made.bundle)
        bundle = replace(made.bundle, metadata=self._metadata(made, evaluations))
        bundle.save(self.record.folder / MODEL)
        return replace(made, bundle=bundle, evaluations=evaluations)

    def model(self) -> Outcome:
        """Synthesises, chooses what stands beside the model, and stores the model; evaluates nothing."""
        try:
            return self._made()
        finally:
            # A call that was interrupted took time, too; where nothing can be written, the events have counted before.
            with suppress(OSError):
                write_elapsed(self.record.folder, self._budget)

    def _made(self) -> Outcome:
        synthesis = self._synthesis()
        if synthesis.best is None:
            return Outcome(synthesis, None, {}, self.tally())
        bundle = self._bundle(synthesis.best.source)
        beside = self._functions.choose(bundle) if synthesis.best.report.passes else Beside()
        bundle = replace(beside.added_to(bundle), metadata=beside.metadata() | self._origin(bundle.source))
        faster = self._faster(bundle, synthesis)
        bundle = bundle if faster is None else replace(bundle, source=faster.source)
        bundle.save(self.record.folder / MODEL)
        return Outcome(synthesis, bundle, {}, self.tally(), beside, faster)

    def matches(self, outcome: Outcome, on_game: Callable[[Progress], None] | None = None) -> TournamentResult | None:
        """Plays the finished model on the true game; stored games are not played again. None if nobody asked."""
        prepared = matches_config(self.record.folder, self.settings, self.inputs, outcome.bundle)
        if prepared is None:
            return None
        self._stage.on_stage("playing in the arena")
        return run_matches.play(self.record.folder, prepared, self._stage.workers, on_game)

    def online(self, outcome: Outcome, matches: TournamentResult | None) -> Outcome:
        """Returns `outcome` with the accuracy on the finished matches in which the model's planner played."""
        game, bundle = self.inputs.game, outcome.bundle
        if game is None or bundle is None or matches is None:
            return outcome
        records = [record for record in matches.records if run_matches.MODEL_AGENT in record.seats]
        found = self._splits.of_matches(game, bundle, records)
        if found is None:
            return outcome
        evaluations = {**outcome.evaluations, "online": found}
        bundle = replace(bundle, metadata=self._metadata(outcome, evaluations))
        bundle.save(self.record.folder / MODEL)
        return replace(outcome, bundle=bundle, evaluations=evaluations)

    def spent(self) -> Tally:
        """Returns calls, tokens and money so far, those before a resume included."""
        return self._budget.total()

    def tally(self) -> dict[str, Any]:
        """Returns calls, tokens and money by purpose."""
        return {purpose: used.to_json() for purpose, used in self._budget.by_purpose().items()}

    def _synthesis(self) -> SynthesisResult:
        settings = self.settings.synthesis
        task = make_task(self.inputs, self.settings.hidden)
        self._stage.on_stage(SYNTHESISING)
        further = FurtherGames(self._stage).further(self._bundle, self._tester)
        begun = self.inputs.begun
        start = None if begun is None else begun.source
        tester = self._tester(task)
        return synthesize(task, settings, self._model, tester, self.record, self._on_event, further, start)

    def _faster(self, bundle: ModelBundle, synthesis: SynthesisResult) -> SpeedResult | None:
        asked, best = self._speed_asked, synthesis.best
        if asked is None or best is None or not best.report.passes:
            return None
        return SpeedStep(self._stage, self._speed_model).run(bundle, synthesis, asked.config)

    def _tester(self, task: SynthesisTask) -> ProcessTester:
        settings = TesterSettings.of(self.settings.synthesis, workers=self._stage.workers, level=self.settings.level)
        return ProcessTester(
            task.tests,
            task.info,
            task.initial_state,
            replace(settings, payoffs=self.inputs.game is not None),
            run_inputs.hidden_pairs(self.settings.hidden.judge(self.inputs.in_turns), self.inputs.train),
            task.joint,
        )

    def _bundle(self, source: str) -> ModelBundle:
        begun = self._begun_with(source)
        if begun is not None:
            return replace(begun, source=source, metadata=self._origin(source))
        return ModelBundle(
            source=source,
            value_source=None,
            initial_state=self.inputs.initial_state,
            info=describe(self.inputs.info, self.inputs.joint_info),
            rules_hash=rules_hash(self.inputs.rules),
            metadata=self._origin(source),
        )

    def _begun_with(self, source: str) -> ModelBundle | None:
        """Returns the model that this one goes on from, None if there is none or its functions do not fit a program."""
        begun = self.inputs.begun
        return None if begun is None or not begun.fits(source) else begun

    def _origin(self, source: str) -> dict[str, Any]:
        """Returns how the model was asked for, and what is still true of the one that it goes on from."""
        begun = self._begun_with(source)
        about = {} if begun is None else begun.metadata
        kept = ("priors", "resamples", "plays_with", "vectors")
        return self.settings.hidden.metadata() | {name: about[name] for name in kept if name in about}

    def _metadata(self, outcome: Outcome, evaluations: Mapping[str, Any]) -> dict[str, Any]:
        source = "" if outcome.bundle is None else outcome.bundle.source
        about = outcome.beside.metadata() | self._origin(source)
        about |= {} if outcome.faster is None else {"faster": outcome.faster.in_words()}
        return about | {
            "language_model": self._model.name,
            "calls": outcome.synthesis.calls,
            "sandbox": self.settings.level,
            "accuracy": {
                split: {kind: tally["accuracy"] for kind, tally in found["kinds"].items()}
                for split, found in evaluations.items()
            },
        }


def first_prompt(inputs: Inputs, settings: RunSettings, caps: Caps) -> DryRun:
    """Returns what the first call would send and cost; calls nothing."""
    price = language_model.price(settings, caps)
    return dry_run(make_task(inputs, settings.hidden), settings.synthesis, price)
