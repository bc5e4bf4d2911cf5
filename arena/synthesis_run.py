"""One synthesis run from inputs to report: every stage is stored, so that the same call goes on after a kill."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from arena import played_games, run_inputs, run_matches, run_model
from arena.errors import UsageError
from arena.function_choice import Beside, FunctionChoice
from arena.hidden_information import HiddenInformation
from arena.match import GameRecord
from arena.report.data import ArenaView, Replay
from arena.run_inputs import Inputs
from arena.run_settings import Caps, RunSettings, planner_config
from arena.tournament import Progress, TournamentConfig, TournamentResult
from cwm import evaluation
from cwm.candidate_testing import ProcessTester, TestSettings
from cwm.evaluation import Evaluation, Tally
from cwm.llm.files import write_whole
from cwm.model_bundle import ModelBundle, describe, rules_hash
from cwm.policy_prior import PriorResult
from cwm.record import RunRecord, content_key
from cwm.sandbox.host import Sandbox
from cwm.synthesis import DryRun, SynthesisResult, dry_run, synthesize
from cwm.synthesis_events import Event, OnEvent, ignore
from cwm.synthesis_task import SynthesisTask, longest_game
from cwm.test_batches import StoredBatches
from cwm.test_execution import RunOptions
from cwm.trajectories import Trajectory
from cwm.unit_tests import BuildOptions, Kind
from cwm.value_function import ValueResult
from cwm.vector_functions import VectorResult
from games.api import Game, ResamplesHistory
from search.api import PlannerConfig

KIND = "synthesis"
INPUTS = "inputs"
MODEL = "model"
CAPS_FILE = "caps.json"

PLANNER_SIMULATIONS = 200
SHOWN_FAILURES = 20
OPEN = HiddenInformation()


@dataclass(frozen=True)
class Outcome:
    """What a run came to.

    Attributes:
        synthesis: candidates, calls, tokens.
        values: the choice of a value function, None if none was asked for.
        bundle: the finished model, None if no program ever loaded.
        evaluations: by split: `train`, `test`, `planner`, `online`.
        tally: usage by purpose.
        priors: the choice of a policy prior, None if none was asked for.
        vectors: how observations become vectors, None if nobody asked.
    """

    synthesis: SynthesisResult
    values: ValueResult | None
    bundle: ModelBundle | None
    evaluations: dict[str, Any]
    tally: dict[str, Any]
    priors: PriorResult | None = None
    vectors: VectorResult | None = None

    @property
    def beside(self) -> Beside:
        """What stands beside the model."""
        return Beside(self.values, self.priors, self.vectors)

    @property
    def exact(self) -> bool:
        """Whether every training test passes."""
        return self.synthesis.best is not None and self.synthesis.best.report.passes

    def cap_reached(self, settings: RunSettings) -> str | None:
        """Returns which cap ended the calls for the model or for its value functions, None if none did."""
        if self.synthesis.reason == "budget":
            return self.synthesis.message
        values, asked = self.values, settings.value
        fewer = values is not None and asked is not None and len(values.candidates) < asked.num_candidates
        return values.message if values is not None and fewer else None


@dataclass(frozen=True)
class Matches:
    """Tournaments of a run, games to read, and every finished game."""

    arenas: tuple[ArenaView, ...] = ()
    replays: tuple[Replay, ...] = ()
    records: tuple[GameRecord, ...] = ()

    @classmethod
    def of(cls, game: Game, prepared: TournamentConfig, result: TournamentResult) -> "Matches":
        """Builds what is shown of a tournament."""
        view = run_matches.view("Matches", prepared, result)
        return cls((view,), tuple(run_matches.replays(game, result)), result.records)


def matches_config(
    folder: Path, settings: RunSettings, inputs: Inputs, bundle: ModelBundle | None
) -> TournamentConfig | None:
    """Returns the tournament of a run's matches, None if none is to be played."""
    if settings.matches is None or inputs.game is None or bundle is None:
        return None
    perfect = inputs.info.perfect_information
    config = planner_config(settings, perfect, settings.matches.simulations)
    return run_matches.prepare(inputs.game, folder / MODEL, bundle, settings, settings.matches, config)


def stored_matches(folder: Path, settings: RunSettings, inputs: Inputs, bundle: ModelBundle | None) -> Matches:
    """Returns what the record holds of a run's matches; plays nothing."""
    prepared = matches_config(folder, settings, inputs, bundle)
    if prepared is None or inputs.game is None:
        return Matches()
    found = run_matches.stored(folder, prepared)
    return Matches() if found is None else Matches.of(inputs.game, prepared, found)


def open_record(folder: Path, settings: RunSettings, inputs: Inputs, caps: Caps) -> RunRecord:
    """Opens a new run's folder, or goes on in one with the same settings.

    Raises:
        RunRecordError: the folder is in use, damaged, or of a run with other settings.
    """
    record = RunRecord.create_or_resume(
        folder,
        KIND,
        settings.to_json() | {"rules": rules_hash(inputs.rules), "info": describe(inputs.info)},
        seeds={"seed": settings.seed},
        sandbox_level=settings.level,
    )
    run_inputs.store(folder / INPUTS, inputs)
    write_caps(folder, caps)
    return record


def read_caps(folder: Path) -> Caps:
    """Returns the caps that a run was last given, none if nobody set any."""
    try:
        return Caps(**json.loads((folder / CAPS_FILE).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return Caps()
    except (ValueError, TypeError) as error:
        raise UsageError(f"{folder / CAPS_FILE} is damaged ({error}); delete it and give the caps again.") from error


def write_caps(folder: Path, caps: Caps) -> None:
    """Stores the caps for a resume."""
    write_whole(folder / CAPS_FILE, json.dumps(asdict(caps)) + "\n")


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
    ) -> None:
        self.record = record
        self.settings = settings
        self.inputs = inputs
        self._workers = workers
        self._listener = on_event
        self._on_stage = on_stage
        self._budget = run_model.budget(caps)
        self._model = run_model.compose(settings, caps, record, self._budget, recording)
        self._sandbox = Sandbox(level=settings.level)
        self._functions = FunctionChoice(record, settings, inputs, self._model, workers, self._on_event, on_stage)

    def _on_event(self, event: Event) -> None:
        run_model.write_elapsed(self.record.folder, self._budget)
        self._listener(event)

    def run(self) -> Outcome:
        """Synthesises, chooses what stands beside the model, evaluates, and stores the model."""
        made = self.model()
        if made.bundle is None:
            return made
        evaluations = self._evaluations(made.bundle)
        bundle = replace(made.bundle, metadata=self._metadata(made, evaluations))
        bundle.save(self.record.folder / MODEL)
        return replace(made, bundle=bundle, evaluations=evaluations)

    def model(self) -> Outcome:
        """Synthesises, chooses what stands beside the model, and stores the model; evaluates nothing."""
        synthesis = self._synthesis()
        if synthesis.best is None:
            return Outcome(synthesis, None, None, {}, self.tally())
        bundle = self._bundle(synthesis)
        beside = self._functions.choose(bundle) if synthesis.best.report.passes else Beside()
        bundle = replace(beside.added_to(bundle), metadata=beside.metadata() | self.settings.hidden.metadata())
        bundle.save(self.record.folder / MODEL)
        return Outcome(synthesis, beside.values, bundle, {}, self.tally(), beside.priors, beside.vectors)

    def matches(self, outcome: Outcome, on_game: Callable[[Progress], None] | None = None) -> Matches:
        """Plays the finished model on the true game, if matches were asked for; stored games are not played again."""
        game = self.inputs.game
        prepared = matches_config(self.record.folder, self.settings, self.inputs, outcome.bundle)
        if prepared is None or game is None:
            return Matches()
        self._on_stage("playing in the arena")
        return Matches.of(game, prepared, run_matches.play(self.record.folder, prepared, self._workers, on_game))

    def online(self, outcome: Outcome, matches: Matches) -> Outcome:
        """Returns `outcome` with the accuracy on the finished matches in which the model's planner played."""
        game, bundle = self.inputs.game, outcome.bundle
        if game is None or bundle is None:
            return outcome
        records = [record for record in matches.records if run_matches.MODEL_AGENT in record.seats]
        played = played_games.trajectories(game, records)
        if not played:
            return outcome
        # A resumed run may hold games that could not be played before: other games are another evaluation.
        games = content_key([[action for _, action in record.actions] for record in records])
        found = self._evaluation("online", bundle, lambda: played, games[:16])
        evaluations = {**outcome.evaluations, "online": found}
        bundle = replace(bundle, metadata=self._metadata(outcome, evaluations))
        bundle.save(self.record.folder / MODEL)
        return replace(outcome, bundle=bundle, evaluations=evaluations)

    def tally(self) -> dict[str, Any]:
        """Returns calls, tokens and money by purpose."""
        return {purpose: used.to_json() for purpose, used in self._budget.by_purpose().items()}

    def _synthesis(self) -> SynthesisResult:
        settings = self.settings.synthesis
        hidden = self.settings.hidden
        task = make_task(self.inputs, hidden)
        tester = ProcessTester(
            task.tests,
            task.info,
            task.initial_state,
            TestSettings.of(settings, workers=self._workers, level=self.settings.level),
            run_inputs.hidden_pairs(hidden.judge(self.inputs.game), self.inputs.train),
        )
        self._on_stage("synthesising the model")
        return synthesize(task, settings, self._model, tester, self.record, self._on_event)

    def _bundle(self, synthesis: SynthesisResult) -> ModelBundle:
        assert synthesis.best is not None
        return ModelBundle(
            source=synthesis.best.source,
            value_source=None,
            initial_state=self.inputs.initial_state,
            info=describe(self.inputs.info),
            rules_hash=rules_hash(self.inputs.rules),
            metadata=self.settings.hidden.metadata(),
        )

    def _metadata(self, outcome: Outcome, evaluations: Mapping[str, Any]) -> dict[str, Any]:
        about = outcome.beside.metadata() | self.settings.hidden.metadata()
        return about | {
            "language_model": self._model.name,
            "calls": outcome.synthesis.calls,
            "sandbox": self.settings.level,
            "accuracy": {
                split: {kind: tally["accuracy"] for kind, tally in found["kinds"].items()}
                for split, found in evaluations.items()
            },
        }

    def _evaluations(self, bundle: ModelBundle) -> dict[str, Any]:
        return {
            "train": self._evaluation("train", bundle, lambda: list(self.inputs.train)),
            **self._held_out(bundle),
            **self._planner(bundle),
        }

    def _held_out(self, bundle: ModelBundle) -> dict[str, Any]:
        if self.inputs.game is None and not self.inputs.held_out:
            return {}
        return {"test": self._evaluation("test", bundle, lambda: run_inputs.test_games(self.inputs, self.settings))}

    def _planner(self, bundle: ModelBundle) -> dict[str, Any]:
        """Returns the accuracy along the games that the finished planner plays on the model itself.

        Kind `path` counts those games: one that takes an action which the true game refuses is wrong.
        """
        game = self.inputs.game
        # What chance does on a model of the closed deck is nothing that the true game knows.
        if self.settings.hidden.judge(game) is None or game is None or self.settings.planner_games == 0:
            return {}
        leaf: Literal["value", "rollout"] = "value" if bundle.value_source is not None else "rollout"
        config = planner_config(self.settings, game.info.perfect_information, PLANNER_SIMULATIONS)
        config = replace(config, **{"leaf": leaf, **bundle.plays_with}, rollouts=1)
        key = f"planner paths/{bundle.hash}"
        found = self._evaluation("planner", bundle, lambda: self._planner_paths(game, bundle, config, key))
        return {"planner": found | {"kinds": {**found["kinds"], "path": self.record.evaluation(key)}}}

    def _planner_paths(self, game: Game, bundle: ModelBundle, config: PlannerConfig, key: str) -> list[Trajectory]:
        stored = self.record.evaluation(f"{key}/games")
        if stored is not None:
            return [played_games.followed(game, index, actions) for index, actions in enumerate(stored["actions"])]
        paths = played_games.of_planner(game, bundle, self.settings, config)
        right = max(0, self.settings.planner_games - paths.refused - paths.failed)
        tally = Tally(passed=right, wrong=paths.refused, errors=self.settings.planner_games - right - paths.refused)
        self.record.put_evaluation(key, tally.to_json())
        actions = [[step.action for step in path.steps[:-1]] for path in paths.trajectories]
        self.record.put_evaluation(f"{key}/games", {"actions": actions})
        return paths.trajectories

    def _evaluation(
        self, split: str, bundle: ModelBundle, games: Callable[[], list[Trajectory]], also: str = ""
    ) -> Any:
        key = f"{split}/{bundle.hash}" + (f"/{also}" if also else "")
        stored = self.record.evaluation(key)
        if stored is not None:
            return stored
        self._on_stage(f"evaluating: {split} games")
        played = games()
        batches = StoredBatches(self.record.journal, key)
        made = evaluation.evaluate(
            bundle.program(),
            played,
            self._sandbox,
            build_options(self.inputs, bundle.value_source is not None, self.settings.hidden),
            RunOptions(workers=self._workers, seed=self.settings.seed),
            batches=batches,
        )
        payload = made.to_json() | {"split": split, "failures": _failures(made), "games": len(played)}
        payload |= {"ends": run_inputs.ends(played, self.inputs.game)}
        payload |= self.settings.hidden.bound(bundle, played, self._sandbox, self.settings.seed)
        self.record.put_evaluation(key, payload)
        batches.clear()
        return payload


def make_task(inputs: Inputs, hidden: HiddenInformation = OPEN) -> SynthesisTask:
    """Returns rules, interface and unit tests of the game as the synthesis takes them."""
    return SynthesisTask.of(
        inputs.rules,
        inputs.info,
        inputs.initial_state,
        inputs.train,
        "none" if inputs.info.perfect_information else hidden.inference,
        reference_of(inputs),
        hidden.deck,
    )


def reference_of(inputs: Inputs) -> ResamplesHistory | None:
    """Returns the reference game's own inference function, None if there is none."""
    return inputs.game if isinstance(inputs.game, ResamplesHistory) else None


def first_prompt(inputs: Inputs, settings: RunSettings, caps: Caps) -> DryRun:
    """Returns what the first call would send and cost; calls nothing."""
    price = run_model.price(settings, caps)
    return dry_run(make_task(inputs, settings.hidden), settings.synthesis, price)


def build_options(inputs: Inputs, value: bool, hidden: HiddenInformation = OPEN) -> BuildOptions:
    """Returns which tests are made of a game's trajectories."""
    kinds: list[Kind] = ["transition", "random_play"]
    if not inputs.info.perfect_information:
        kinds.append("inference")
    if value:
        kinds.append("value")
    return BuildOptions(
        kinds=tuple(kinds),
        reference=reference_of(inputs),
        max_length=longest_game(inputs.info, inputs.train),
        deck=hidden.deck,
        infers=hidden.inference,
    )


def _failures(made: Evaluation) -> list[dict[str, Any]]:
    """Returns the first failed tests of an evaluation in words."""
    return [
        {"id": result.id, "kind": result.kind, "field": result.field, "message": result.message}
        for result in made.failed[:SHOWN_FAILURES]
    ]
