"""How often a finished model is right, split by where games went: the recorded games, held-out ones, those of its
planner on the model itself, and those of its planner on the true game.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from arena.agents.model import planner_settings
from arena.evaluation import held_out_games, played_games
from arena.evaluation.real_games import RealGames
from arena.machine.user_cache import cache_folder
from arena.matches.match import GameRecord
from arena.runs.settings import planner_config
from arena.runs.stage import Stage
from arena.runs.task import build_options
from cwm.model.bundle import ModelBundle
from cwm.sandbox.parent.host import Sandbox
from cwm.storage.keys import content_key
from cwm.suite import evaluation
from cwm.suite.batches import StoredBatches
from cwm.suite.evaluation import Evaluation, ResultCounts
from cwm.suite.execution import RunOptions
from cwm.trajectories.recorded import Trajectory
from games.api import Game
from search.api import PlannerConfig

PLANNER_SIMULATIONS = 200
SHOWN_FAILURES = 20


class SplitAccuracy:
    """Plays and tests for one run; each split is served from the record if it was finished before.

    Args:
        stage: of the run.
    """

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self._sandbox = Sandbox(level=stage.settings.level)

    def finished(self, bundle: ModelBundle) -> dict[str, Any]:
        """Returns the accuracy of a model by split; `online` only if no matches are to be played, which are that."""
        return {
            "train": self._evaluation("train", bundle, lambda: list(self.stage.inputs.train)),
            **self._held_out(bundle),
            **self._planner(bundle),
            **self._online(bundle),
        }

    def of_matches(self, game: Game, bundle: ModelBundle, records: Sequence[GameRecord]) -> dict[str, Any] | None:
        """Returns the accuracy on matches in which the model's planner played, None if there are none."""
        played = played_games.trajectories(game, records)
        if not played:
            return None
        # A resumed run may hold games that could not be played before: other games are another evaluation.
        games = content_key([[action for _, action in record.actions] for record in records])
        found: dict[str, Any] = self._evaluation("online", bundle, lambda: played, games[:16])
        return found

    def _held_out(self, bundle: ModelBundle) -> dict[str, Any]:
        stage = self.stage
        if stage.inputs.game is None and not stage.inputs.held_out:
            return {}
        return {"test": self._evaluation("test", bundle, self._fresh)}

    def _fresh(self) -> Sequence[Trajectory]:
        stage = self.stage
        return held_out_games.held_out_games(stage.inputs, stage.settings, stage.workers, cache_folder())

    def _planner(self, bundle: ModelBundle) -> dict[str, Any]:
        """Returns the accuracy along the games that the finished planner plays on the model itself.

        Kind `path` counts those games: one that takes an action which the true game refuses is wrong, unless it is a
        first deal and the model was told no table of them.
        """
        stage = self.stage
        game = stage.inputs.game
        # What chance does on a model of the closed deck is nothing that the true game knows; on a model with a joint
        # step none of these planners plays.
        if stage.settings.hidden.judge(game) is None or game is None or stage.settings.planner_games == 0:
            return {}
        if bundle.joint:
            return {}
        config = planner_config(stage.settings.matches, game.info.perfect_information, PLANNER_SIMULATIONS)
        config = planner_settings(bundle, replace(config, rollouts=1))
        key = f"planner paths/{bundle.hash}"
        found = self._evaluation("planner", bundle, lambda: self._planner_paths(game, bundle, config, key))
        return {"planner": found | {"kinds": {**found["kinds"], "path": stage.record.evaluation(key)}}}

    def _online(self, bundle: ModelBundle) -> dict[str, Any]:
        """Returns the accuracy along real games of the model's planner, where no matches show it."""
        stage = self.stage
        game = stage.inputs.game
        if game is None or stage.settings.matches is not None or stage.settings.further_games == 0:
            return {}
        games = RealGames(self.stage)
        return {"online": self._evaluation("online", bundle, lambda: games.online(game, bundle))}

    def _planner_paths(self, game: Game, bundle: ModelBundle, config: PlannerConfig, key: str) -> list[Trajectory]:
        stage = self.stage
        stored = stage.record.evaluation(f"{key}/games")
        if stored is not None:
            return [played_games.followed(game, index, actions) for index, actions in enumerate(stored["actions"])]
        paths = played_games.of_planner(game, bundle, stage.settings, config)
        # Of a deal that the true game does not have nothing can be said, where no table tells which it has.
        untold = sum(len(path.steps) == 1 for path in paths.trajectories) if stage.inputs.telling.drawn else 0
        wrong, asked = paths.refused - untold, stage.settings.planner_games - untold
        right = max(0, asked - wrong - paths.failed)
        tally = ResultCounts(passed=right, wrong=wrong, errors=asked - right - wrong)
        stage.record.put_evaluation(key, tally.to_json())
        actions = [[step.action for step in path.steps[:-1]] for path in paths.trajectories]
        stage.record.put_evaluation(f"{key}/games", {"actions": actions})
        return paths.trajectories

    def _evaluation(
        self, split: str, bundle: ModelBundle, games: Callable[[], Sequence[Trajectory]], also: str = ""
    ) -> Any:
        stage = self.stage
        key = f"{split}/{bundle.hash}" + (f"/{also}" if also else "")
        stored = stage.record.evaluation(key)
        if stored is not None:
            return stored
        stage.on_stage(f"evaluating: {split} games")
        played = games()
        batches = StoredBatches(stage.record.journal, key)
        made = evaluation.evaluate(
            bundle.program(),
            played,
            self._sandbox,
            build_options(stage.inputs, bundle.value_source is not None, stage.settings.hidden),
            RunOptions(workers=stage.workers, seed=stage.settings.seed),
            batches=batches,
        )
        payload = made.to_json() | {"split": split, "failures": _failures(made), "games": len(played)}
        payload |= {"ends": held_out_games.ends(played, stage.inputs.game)}
        payload |= stage.settings.hidden.bound(bundle, played, self._sandbox, stage.settings.seed)
        stage.record.put_evaluation(key, payload)
        batches.clear()
        return payload


def _failures(made: Evaluation) -> list[dict[str, Any]]:
    """Returns the first failed tests of an evaluation in words."""
    return [
        {"id": result.id, "kind": result.kind, "field": result.field, "message": result.message}
        for result in made.failed[:SHOWN_FAILURES]
    ]
