"""The speed refinement of one run: asked for with it (`--faster`) or afterwards (`cwm faster RUN`)."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from arena.agents.model import planner_settings
from arena.pipeline.model_speed import ModelSpeed
from arena.runs.settings import RunSettings, planner_config
from arena.runs.stage import Stage
from arena.runs.task import make_task
from arena.usage import UsageError
from cwm.llm.api import LanguageModel
from cwm.model.bundle import ModelBundle
from cwm.model.world_model import WorldModel
from cwm.sandbox.parent.host import Sandbox
from cwm.speed.refinement import SpeedResult, SpeedTools, refine_speed
from cwm.speed.task import SpeedConfig, SpeedTask
from cwm.storage import stored_json
from cwm.storage.files import write_whole
from cwm.storage.keys import derive
from cwm.suite import build
from cwm.suite.build import BuildOptions
from cwm.suite.types import UnitTest
from cwm.synthesis.further import Found
from cwm.synthesis.result import SynthesisResult
from cwm.synthesis.testing import ProcessTester, TesterSettings
from cwm.trajectories.recorded import Trajectory, collect
from search.api import PlannerConfig

ASKED_FILE = "faster.json"
OWN_GAMES = 1_000_000
"""Numbers of the model's own random games begin here, so that no test has the name of another."""
PATIENCE = 4.0
"""The suite is larger than that of the synthesis: so many times the seconds are allowed for all of it."""


@dataclass(frozen=True)
class SpeedAsked:
    """What a finished run is asked for afterwards.

    Attributes:
        config: settings of the speed refinement.
        llm: `PROVIDER:MODEL`, None for the run's own.
        base_url: see `RunSettings`.
    """

    config: SpeedConfig
    llm: str | None = None
    base_url: str | None = None


def asked_of(folder: Path, settings: RunSettings) -> SpeedAsked | None:
    """Returns what a run is asked for: what its folder says, else its settings, else None.

    Raises:
        UsageError: the file in the folder is damaged.
    """
    remedy = f"give `cwm faster {folder}` again"
    asked = stored_json.read_if_there(folder / ASKED_FILE, _speed_asked, UsageError, remedy)
    return asked or (None if settings.faster is None else SpeedAsked(settings.faster))


def _speed_asked(data: dict[str, Any]) -> SpeedAsked:
    return SpeedAsked(SpeedConfig.from_record(data["config"]), data["llm"], data["base_url"])


def ask(folder: Path, asked: SpeedAsked) -> None:
    """Stores what a finished run is asked for, for this process and for resumed ones."""
    write_whole(folder / ASKED_FILE, json.dumps(asdict(asked), indent=1, sort_keys=True) + "\n")


@dataclass(frozen=True)
class SpeedStep:
    """One run's speed refinement.

    Attributes:
        stage: of the run.
        model: the language model, as the caller composed it.
    """

    stage: Stage
    model: LanguageModel

    def run(self, bundle: ModelBundle, synthesis: SynthesisResult, config: SpeedConfig) -> SpeedResult:
        """Asks for faster versions of a model that passes its tests, and keeps what is right and faster.

        Args:
            bundle: the model, with what stands beside it.
            synthesis: how it came about; the tests of its further games are run again.
            config: settings.

        Raises:
            LanguageModelError: a call failed for good (other than by a budget's cap).
            TesterError: a version could not be tested through no fault of its own.
            WorldModelError: the model fails in random games.
        """
        stage = self.stage
        stage.on_stage("making the model faster")
        task = make_task(stage.inputs, stage.settings.hidden)
        with WorldModel(bundle, Sandbox(level=stage.settings.level)) as model:
            # Seeded apart from the recorded games: these would only be played again.
            played = collect(model, config.games, derive("faster", config.seed))
        games = tuple(replace(game, index=OWN_GAMES + game.index) for game in played)
        speed = ModelSpeed(bundle, config, self._planner(bundle, config), games, stage.settings.level)
        tests = (*task.tests, *self._further(synthesis), *self._own(bundle, games))
        tools = SpeedTools(speed.profile, tests, self._tester(tests), speed.differences, speed.pairs)
        beside = tuple(source for source in (bundle.value_source, bundle.prior_source) if source is not None)
        asked = SpeedTask(task, bundle.source, beside, speed.planner.leaf == "value")
        return refine_speed(asked, config, stage.settings.synthesis, self.model, tools, stage.record, stage.on_event)

    def _planner(self, bundle: ModelBundle, config: SpeedConfig) -> PlannerConfig:
        planner = planner_config(self.stage.settings.matches, bundle.game_info.perfect_information, config.simulations)
        return planner_settings(bundle, replace(planner, rollouts=1))

    def _further(self, synthesis: SynthesisResult) -> list[UnitTest]:
        """Returns the tests of further games that the synthesis met."""
        tests: dict[str, UnitTest] = {}
        for done in synthesis.rounds:
            stored = self.stage.record.evaluation(f"further/{done.number}/{done.program}")
            if stored is not None:
                tests |= {test.id: test for test in Found.from_json(stored).tests}
        return list(tests.values())

    def _own(self, bundle: ModelBundle, games: Sequence[Trajectory]) -> list[UnitTest]:
        """Returns tests of the model's own random games which it passes itself: where its sampler is at fault, a
        faster version need not be better."""
        stage = self.stage
        # The model's own states are no secret to it, whatever the deck was.
        tests = build.build(games, BuildOptions(kinds=("transition",)))
        hidden = stage.settings.hidden
        if not stage.inputs.info.perfect_information:
            options = BuildOptions(kinds=("inference",), deck=hidden.deck, infers=hidden.inference)
            tests += build.build(games, options)
        key = f"faster/own/{bundle.hash}/{len(games)}/{games[0].seed}"
        stored = stage.record.evaluation(key)
        if stored is None:
            (report,) = self._tester(tests)([bundle.source])
            stored = {"passed": [result.id for result in report.results if result.status == "pass"]}
            stage.record.put_evaluation(key, stored)
        passed = set(stored["passed"])
        return [test for test in tests if test.id in passed]

    def _tester(self, tests: Sequence[UnitTest]) -> ProcessTester:
        stage = self.stage
        settings = TesterSettings.of(stage.settings.synthesis, workers=stage.workers, level=stage.settings.level)
        patient = replace(
            settings, total_seconds=PATIENCE * settings.total_seconds, payoffs=stage.inputs.game is not None
        )
        return ProcessTester(tests, stage.inputs.info, stage.inputs.initial_state, patient)
