"""Observations from which a run learns how to write them as vectors, and others that decide which way is right."""

from collections.abc import Sequence
from typing import Final

from arena.run_inputs import Inputs
from arena.run_settings import RunSettings
from cwm.model_bundle import ModelBundle
from cwm.sandbox.host import Sandbox
from cwm.trajectories import Trajectory, game_seed, play, random_policy
from cwm.vector_task import VectorConfig, VectorTask, samples_of
from cwm.world_model import WorldModel, WorldModelError

SAMPLE_SEED_OFFSET: Final = 2_000_003
HELD_OUT_SEED_OFFSET: Final = 3_000_017
"""Games of the model have seeds of their own: none is played for both purposes."""


def vector_task(bundle: ModelBundle, inputs: Inputs, settings: RunSettings, config: VectorConfig) -> VectorTask:
    """Returns what functions between observations and vectors are written for.

    Besides the recorded games, games that the model plays at random by itself give samples: they cost no real game,
    and it is on the model that an agent learns. Further ones are held out, with a user's own held-out games.

    Args:
        bundle: the model.
        inputs: rules and recorded games.
        settings: of the run.
        config: how many games.

    Raises:
        SandboxUnavailableError: the model cannot be run.
        WorldModelError: it does not load.
    """
    recorded = samples_of(inputs.train, settings.deck)
    sandbox = Sandbox(level=settings.level)
    with WorldModel(bundle, sandbox) as model:
        own = _played(model, config.games, game_seed(settings.seed, SAMPLE_SEED_OFFSET))
        others = _played(model, config.games, game_seed(settings.seed, HELD_OUT_SEED_OFFSET))
    return VectorTask(
        rules=inputs.rules,
        info=inputs.info,
        source=bundle.source,
        recorded=tuple(recorded),
        samples=(*recorded, *samples_of(own)),
        held_out=(*samples_of(inputs.held_out, settings.deck), *samples_of(others)),
    )


def _played(model: WorldModel, games: int, seed: int) -> Sequence[Trajectory]:
    """Returns random games on the model; one at which it fails, though it passes its tests, is left out."""
    found: list[Trajectory] = []
    policies = [random_policy] * model.info.num_players
    for index in range(games):
        try:
            found.append(play(model, policies, game_seed(seed, index), index))
        except WorldModelError:
            continue
    return found
