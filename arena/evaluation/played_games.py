"""Finished games as trajectories, for the accuracy of a model where planners go."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from arena.agents.api import InfrastructureError
from arena.matches.match import GameRecord
from arena.runs.settings import RunSettings
from cwm.model.bundle import ModelBundle
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.blame import Ours, blame
from cwm.storage.keys import derive
from cwm.trajectories.recorded import Step, Trajectory, record_step
from games.api import Action, Game
from search import session
from search.api import PlannerConfig

TIMEOUT_S = 600.0


@dataclass(frozen=True)
class PlannedPaths:
    """Where a planner goes on its own model, replayed on the true game.

    Attributes:
        trajectories: the paths, each up to its end or to the action that the true game refused.
        refused: paths with an action that is not legal in the true game.
        failed: games that the model itself could not finish.
    """

    trajectories: list[Trajectory]
    refused: int
    failed: int


def of_planner(game: Game, bundle: ModelBundle, settings: RunSettings, config: PlannerConfig) -> PlannedPaths:
    """Lets the planner play on the model itself, at every seat, and follows its games on the true game.

    A model that is exact where random players go can be wrong where its planner goes, and what a planner visits is on
    the model, not on the true game: there it never sees what the model wrongly allows.

    Args:
        game: the true game.
        bundle: the model.
        settings: how many games, the seed, the sandbox's level.
        config: of the planner.

    Raises:
        InfrastructureError: the sandbox is at fault.
    """
    argument = {"seats": [config.to_json()] * game.info.num_players, "games": settings.planner_games}
    with Sandbox(level=settings.level, payload=session.PAYLOAD).start(bundle.program()) as worker:
        reply = worker.payload(
            "search.session", "visited", argument, seed=derive("planner games", settings.seed), timeout_s=TIMEOUT_S
        )
    fault = blame(reply)
    if isinstance(fault, Ours):
        raise InfrastructureError(f"the planner's games on the model failed: {fault.problem}")
    if fault is not None or not _are_trajectories(reply.value):
        return PlannedPaths([], 0, settings.planner_games)
    paths, refused, failed = [], 0, 0
    for index, played in enumerate(reply.value["trajectories"]):
        actions = [step["action"] for step in played["steps"] if step["action"] is not None]
        trajectory = followed(game, index, actions)
        paths.append(trajectory)
        refused += len(trajectory.steps) <= len(actions)
        failed += not played["episode"]["ended"]
    return PlannedPaths(paths, refused, failed)


def _are_trajectories(value: Any) -> bool:
    """Returns whether a worker's answer has the form that is asked for: a program may have written it itself."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("trajectories"), list)
        and all(
            isinstance(played, dict)
            and isinstance(played.get("episode"), dict)
            and isinstance(played["episode"].get("ended"), bool)
            and isinstance(played.get("steps"), list)
            and all(isinstance(step, dict) and isinstance(step.get("action"), str | None) for step in played["steps"])
            for played in value["trajectories"]
        )
    )


def trajectories(game: Game, records: Iterable[GameRecord]) -> list[Trajectory]:
    """Replays games through the true rules; a forfeited one up to the decision at which it was forfeited.

    Args:
        game: the true game.
        records: each becomes the trajectory of its number.
    """
    return [followed(game, index, [action for _, action in record.actions]) for index, record in enumerate(records)]


def followed(game: Game, index: int, actions: Sequence[Action]) -> Trajectory:
    """Returns the true states along `actions`; it stops at the first that is not legal. The last step has no action."""
    state = game.initial_state()
    steps: list[Step] = []
    for action in actions:
        if action not in game.legal_actions(state):
            break
        steps.append(record_step(game, state, action))
        state = game.apply_action(state, action)
    steps.append(record_step(game, state, None))
    return Trajectory(game.info.id, index, None, game.info.player_names, tuple(steps))
