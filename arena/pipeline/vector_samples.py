"""Observations from which a run learns how to write them as vectors, and others that decide which way is right."""

from dataclasses import replace
from typing import Final

from arena.evaluation import played_games
from arena.runs.inputs import Inputs
from arena.runs.settings import RunSettings, planner_config
from cwm.functions.vectors import VectorConfig, VectorTask, samples_of
from cwm.model.bundle import ModelBundle
from cwm.model.world_model import WorldModel, WorldModelError
from cwm.sandbox.parent.host import Sandbox
from cwm.trajectories.recorded import EndlessGameError, Trajectory, game_seed
from cwm.trajectories.varied import varied_game

SAMPLE_SEED_OFFSET: Final = 2_000_003
HELD_OUT_SEED_OFFSET: Final = 3_000_017
"""Games of the model have seeds of their own: none is played for both purposes."""


def vector_task(bundle: ModelBundle, inputs: Inputs, settings: RunSettings, config: VectorConfig) -> VectorTask:
    """Returns what functions between observations and vectors are written for.

    Besides the recorded games, games on the model itself give samples, varied ones and a planner's: they cost no real
    game, and it is on the model that an agent learns. Further ones are held out, with a user's own held-out games.

    Args:
        bundle: the model.
        inputs: rules and recorded games.
        settings: of the run.
        config: how many games.

    Raises:
        SandboxUnavailableError: the model cannot be run.
        WorldModelError: it does not load.
        InfrastructureError: the planner could not play through no fault of the model.
    """
    recorded = samples_of(inputs.train, settings.deck)
    sandbox = Sandbox(level=settings.level)
    with WorldModel(bundle, sandbox) as model:
        own = _played(model, config.games, game_seed(settings.seed, SAMPLE_SEED_OFFSET))
        others = _played(model, config.games, game_seed(settings.seed, HELD_OUT_SEED_OFFSET))
        planned = _planned(model, bundle, settings, config)
    own += planned[0::2]
    others += planned[1::2]
    return VectorTask(
        rules=inputs.rules,
        info=inputs.info,
        source=bundle.source,
        recorded=tuple(recorded),
        samples=(*recorded, *samples_of(own)),
        held_out=(*samples_of(inputs.held_out, settings.deck), *samples_of(others)),
    )


def _planned(model: WorldModel, bundle: ModelBundle, settings: RunSettings, config: VectorConfig) -> list[Trajectory]:
    """Returns games of a planner at every seat, twice as many as asked for: for samples and to hold out in turn."""
    if not config.planner_games:
        return []
    planner = planner_config(settings, model.info.perfect_information, config.planner_simulations)
    asked = replace(settings, planner_games=2 * config.planner_games)
    return played_games.of_planner(model, bundle, asked, replace(planner, rollouts=1)).trajectories


def _played(model: WorldModel, games: int, seed: int) -> list[Trajectory]:
    """Returns varied games on the model; one at which it fails or does not end, though it passes its tests, is left
    out."""
    found: list[Trajectory] = []
    for index in range(games):
        try:
            found.append(varied_game(model, seed, index))
        except (WorldModelError, EndlessGameError):
            continue
    return found
