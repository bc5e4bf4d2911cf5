"""Games on a model itself, from which a run learns how observations become vectors: they cost no real game."""

from dataclasses import replace
from typing import Final

from arena.evaluation import played_games
from arena.runs.settings import RunSettings, planner_config
from cwm.model.bundle import ModelBundle
from cwm.model.world_model import WorldModel, WorldModelError
from cwm.sandbox.parent.host import Sandbox
from cwm.trajectories.recorded import EndlessGameError, Trajectory, game_seed
from cwm.trajectories.varied import varied_game

LEARNT_SEED_OFFSET: Final = 2_000_003
HELD_OUT_SEED_OFFSET: Final = 3_000_017
"""Games of the model have seeds of their own: none is played for both purposes."""


def self_play(
    bundle: ModelBundle, settings: RunSettings, games: int, planner_games: int, simulations: int
) -> tuple[list[Trajectory], list[Trajectory]]:
    """Returns two lots of games on the model, one to learn from and one to hold out.

    Args:
        bundle: the model.
        settings: of the run.
        games: varied games a lot; one at which the model fails or that does not end, though it passes its tests, is
            left out.
        planner_games: games of a planner a lot.
        simulations: of that planner, a move.

    Raises:
        SandboxUnavailableError: the model cannot be run.
        WorldModelError: it does not load.
        InfrastructureError: the planner could not play through no fault of the model.
    """
    with WorldModel(bundle, Sandbox(level=settings.level)) as model:
        learnt = _played(model, games, game_seed(settings.seed, LEARNT_SEED_OFFSET))
        held_out = _played(model, games, game_seed(settings.seed, HELD_OUT_SEED_OFFSET))
        planned = _planned(model, bundle, settings, 2 * planner_games, simulations)
    return learnt + planned[0::2], held_out + planned[1::2]


def _planned(
    model: WorldModel, bundle: ModelBundle, settings: RunSettings, games: int, simulations: int
) -> list[Trajectory]:
    """Returns games of a planner at every seat."""
    if not games:
        return []
    planner = planner_config(settings.matches, model.info.perfect_information, simulations)
    asked = replace(settings, planner_games=games)
    return played_games.of_planner(model, bundle, asked, replace(planner, rollouts=1)).trajectories


def _played(model: WorldModel, games: int, seed: int) -> list[Trajectory]:
    """Returns varied games on the model, but those at which it fails or that do not end."""
    played: list[Trajectory] = []
    for index in range(games):
        try:
            played.append(varied_game(model, seed, index))
        except (WorldModelError, EndlessGameError):
            continue
    return played
