"""What a learner at one seat of a model sees and can do: its action table and how its observations become vectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from arena.checkpoints.vectors import codec, width_of
from arena.training_on_models.settings import PpoSettings
from arena.usage import UsageError
from cwm.model import environment as model_environment
from cwm.model.arrivals import ModelPlayError
from cwm.model.bundle import ModelBundle
from cwm.model.codec import ProgramCodec, VectorCodec, open_codec
from cwm.model.environment import EnvironmentConfig, ModelEnvironment
from cwm.observations.values import ObservationVectorError
from cwm.observations.vectors import ObservationVectors
from cwm.sandbox.parent.host import Sandbox
from games import registry
from games.adapters.action_table import ListsActions
from games.api import Action, GameError, Json

MOST_LISTED: Final = 2000
"""A game's own longer list of actions is left aside for those that were met: the network has an output for each."""
MOST_ACTIONS: Final = 10_000
MOST_WIDTH: Final = 50_000
"""With the paper's settings, the steps between two updates then take some gigabytes."""
TRIED: Final = 50
"""So many observations show whether stored vectors fit at all."""
EXPLORING_SEED: Final = 0


@dataclass(frozen=True)
class Lesson:
    """One seat of one model.

    Attributes:
        bundle: the model.
        seat: the learner's.
        actions: N strings that it can choose from; the place is the number.
        vectors: `schema` of observations, or `program` and `width` of a language model's functions.
        explored: what games by chance met: `games`, `observations`, `failures`.
    """

    bundle: ModelBundle
    seat: int
    actions: tuple[Action, ...]
    vectors: dict[str, Json]
    explored: dict[str, Any]

    def environment(self, settings: PpoSettings, seed: int, sandbox: Sandbox) -> ModelEnvironment:
        """Returns games of the model for the learner; a codec that needs a worker opens it when it is first used."""
        config = EnvironmentConfig(self.seat, self.actions, settings.environments, seed, settings.max_actions)
        schema = self.vectors.get("schema")
        own = None if schema is None else ObservationVectors.from_json(schema)
        return ModelEnvironment(self.bundle, config, own or codec(self.vectors, self.bundle.info, sandbox), sandbox)


def prepare(bundle: ModelBundle, seat: int, settings: PpoSettings, sandbox: Sandbox) -> Lesson:
    """Plays games by chance on a model and takes from them what a learner needs to know.

    Raises:
        UsageError: the game has no such seat, or stored vectors fit no observation.
        ModelPlayError: the model fails, or is too large to learn on.
        SandboxUnavailableError: no worker can be started.
        MissingVectorsError: stored vectors are asked for, and there are none.
    """
    players = bundle.game_info.num_players
    if not 0 <= seat < players:
        raise UsageError(f"{bundle.info['id']} has the seats 0 to {players - 1}, not {seat}.")
    met = model_environment.explore(
        bundle,
        seat,
        sandbox,
        games=settings.explored_games,
        observations=settings.explored_observations,
        max_actions=settings.max_actions,
        seed=EXPLORING_SEED,
    )
    if settings.stored_vectors:
        vectors = _stored(bundle, sandbox)
    else:
        vectors = {"schema": model_environment.inferred(met.observations).to_json()}
    actions = action_table(bundle.info["id"], met.actions)
    _check_sizes(len(actions), width_of(vectors))
    if settings.stored_vectors:
        _try_out(codec(vectors, bundle.info, sandbox), seat, met.observations)
    explored = {"games": met.games, "observations": len(met.observations), "failures": dict(met.failures)}
    return Lesson(bundle, seat, actions, vectors, explored)


def _check_sizes(actions: int, width: int) -> None:
    """Refuses what would fill this machine's memory: the model's program alone decides how much it lists and shows."""
    for count, most, what in ((actions, MOST_ACTIONS, "different actions"), (width, MOST_WIDTH, "numbers a vector")):
        if count > most:
            raise ModelPlayError(f"the model has {count:,} {what}, at most {most:,} can be learned on.")


def _try_out(vectors: VectorCodec, seat: int, observations: Sequence[Json]) -> None:
    """Refuses stored vectors that fit nothing: an agent would learn from zeros alone."""
    tried = observations[:: max(1, len(observations) // TRIED)]
    error: ObservationVectorError | None = None
    with vectors:
        for observation in tried:
            try:
                vectors.encode(observation, seat)
                return
            except ObservationVectorError as found:
                error = found
    raise UsageError(
        f"The stored vectors fit none of {len(tried)} observations of the model ({error}); leave out "
        "the option `vectors`, and a schema is inferred."
    )


def _stored(bundle: ModelBundle, sandbox: Sandbox) -> dict[str, Json]:
    with open_codec(bundle, sandbox) as found:
        if isinstance(found, ProgramCodec):
            return {"program": bundle.vectors_source, "width": found.width}
    return {"schema": bundle.schema}


def action_table(game_id: str, met: tuple[Action, ...]) -> tuple[Action, ...]:
    """Returns the action strings that a learner can choose from.

    Args:
        game_id: if it is registered and lists its actions, not too many, and all those that were met, they are taken.
        met: in games by chance on the model.
    """
    try:
        game = registry.make(game_id)
    except GameError:
        return met
    listed = tuple(game.all_actions()) if isinstance(game, ListsActions) else ()
    return listed if len(listed) <= MOST_LISTED and set(met) <= set(listed) else met
