"""Finished games as trajectories, for the accuracy of a model where planners go."""

from collections.abc import Iterable

from arena import match
from arena.match import GameRecord
from arena.model_agent import ModelAgent
from arena.run_settings import RunSettings
from arena.runtime import Runtime
from arena.seeds import derive
from cwm.model_bundle import ModelBundle
from cwm.trajectories import Step, Trajectory, record_step
from games.api import Game
from search.api import PlannerConfig


def of_planner(game: Game, bundle: ModelBundle, settings: RunSettings, config: PlannerConfig) -> list[Trajectory]:
    """Plays a finished model's planner at every seat of the true game and records each step.

    Args:
        game: the true game.
        bundle: the model.
        settings: how many games, the seed, the sandbox's level.
        config: of the planner.
    """
    runtime = Runtime(level=settings.level)
    seats = range(game.info.num_players)
    records = []
    for index in range(settings.planner_games):
        seeds = [derive("planner games", settings.seed, index, seat) for seat in seats]
        agents = [ModelAgent(bundle.program(), config, runtime, f"cwm {seat}") for seat in seats]
        deal = derive("planner deal", settings.seed, index)
        records.append(match.play(game, agents, deal, seeds, settings.level))
    return trajectories(game, records)


def trajectories(game: Game, records: Iterable[GameRecord]) -> list[Trajectory]:
    """Replays games through the true rules; forfeited ones are left out, since they have no end.

    Args:
        game: the true game.
        records: each becomes the trajectory of its number.
    """
    return [_replayed(game, index, record) for index, record in enumerate(records) if record.forfeit is None]


def _replayed(game: Game, index: int, record: GameRecord) -> Trajectory:
    state = game.initial_state()
    steps: list[Step] = []
    for _, action in record.actions:
        steps.append(record_step(game, state, action))
        state = game.apply_action(state, action)
    steps.append(record_step(game, state, None))
    return Trajectory(game.info.id, index, None, game.info.player_names, tuple(steps))
