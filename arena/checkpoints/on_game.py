"""A trained policy as it lies on disk, and as functions: what evaluation, probes and arena agents share.

A checkpoint's `config.json` says: `name`, `game` (registry id), `view` (one of the game's), `method`, `seed`,
`steps` (environment steps trained), `network` and `ppo` (settings).
"""

import hashlib
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from arena.checkpoints.places import MOST_POLICIES, SHIPPED
from cwm.storage.keys import canonical_json
from games.api import GameError
from games.batched import registry
from games.batched.api import BatchedEnv
from search.learn import checkpoint
from search.learn.api import Array, Params
from search.learn.errors import CheckpointError, NetworkConfigError
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import GRAPHS, NetworkConfig
from search.learn.ppo import rollout


@dataclass(frozen=True)
class LearnedPolicy:
    """A trained network.

    Attributes:
        name: e.g. `op-s0`.
        game: registry id.
        view: which view of the game it was trained on.
        about: all that its `config.json` says.
        network: the network.
        params: its parameters, without an axis of seeds.
    """

    name: str
    game: str
    view: str
    about: dict[str, Any]
    network: ActorCritic
    params: Params

    @property
    def method(self) -> str:
        """What it was trained for, e.g. `op`; its own name where its checkpoint does not say."""
        return str(self.about.get("method", self.name))

    def env(self) -> BatchedEnv[Any]:
        """Returns the batched game in the policy's view."""
        return environment(self.game, self.view, self.network.config)


def environment(game: str, view: str, network: NetworkConfig) -> BatchedEnv[Any]:
    """Returns a batched game in a view, shown as images or, to networks that read them, as graphs.

    Raises:
        GameError: there is no such game or view, or it has no graphs.
    """
    batched = registry.make(game)
    if network.encoder not in GRAPHS:
        return batched.env(view)
    if batched.graph_env is None:
        raise GameError(f"{game} has no graphs, which the encoder {network.encoder} reads.")
    return batched.graph_env(view)


def load(folder: Path) -> LearnedPolicy:
    """Reads a policy.

    Raises:
        CheckpointError: there is none, or it is damaged; the message says why.
    """
    about = checkpoint.load_about(folder)
    try:
        game, view, name = about["game"], about["view"], about["name"]
        views = registry.describe(game).views
        if not isinstance(name, str) or view not in views:
            raise CheckpointError(
                f"The checkpoint in {folder} has the name {name!r} and the view {view!r}: expected text, and "
                f"{' or '.join(views)}; restore its {checkpoint.ABOUT}."
            )
        network, shapes = _network(game, view, NetworkConfig.from_json(about["network"]))
    except KeyError as error:
        raise CheckpointError(
            f"The checkpoint in {folder} lacks {error}: it was not trained on a batched game."
        ) from error
    except (TypeError, AttributeError, NetworkConfigError) as error:
        raise CheckpointError(f"The {checkpoint.ABOUT} in {folder} is damaged ({error}): restore it.") from error
    return LearnedPolicy(name, game, view, about, network, checkpoint.load_policy(folder, shapes))


def content_hash(folder: Path) -> str:
    """Returns the SHA-256 of a checkpoint: of its arrays and of what it says of itself.

    Raises:
        CheckpointError: it cannot be read.
    """
    digest = hashlib.sha256(canonical_json(checkpoint.load_about(folder)).encode())
    try:
        digest.update((folder / checkpoint.POLICY).read_bytes())
    except OSError as error:
        raise CheckpointError(f"No checkpoint can be read from {folder} ({error}): give the folder of one.") from error
    return digest.hexdigest()


@lru_cache(maxsize=MOST_POLICIES)
def _network(game: str, view: str, config: NetworkConfig) -> tuple[ActorCritic, Params]:
    """Returns the network that plays a game in a view, and the shapes of its parameters."""
    table = None if config.encoder in GRAPHS else registry.table_alone(game)
    if table is not None:
        network, seen = ActorCritic(config, len(table.actions)), jnp.zeros((1, 1, *table.image_shape))
        return network, jax.eval_shape(partial(network.init, observation=seen), jax.random.key(0))
    env = environment(game, view, config)
    network = ActorCritic(config, env.num_actions)

    def fresh(key: Array) -> Params:
        return network.init(key, jax.tree.map(lambda leaf: leaf[None], rollout.observe(env, env.init(key[None]))))

    return network, jax.eval_shape(fresh, jax.random.key(0))


def find(name: str, game: str) -> Path:
    """Returns the folder of a policy: a path, or the name of one that ships for the game.

    Raises:
        CheckpointError: there is no such policy; the message lists those that ship.
    """
    shipped = SHIPPED / game / name
    if (shipped / checkpoint.ABOUT).exists():
        return shipped
    if (Path(name) / checkpoint.ABOUT).exists():
        return Path(name)
    known = ", ".join(shipped_names(game)) or "none"
    raise CheckpointError(f"No checkpoint {name!r}: give the folder of one, or for {game} one that ships: {known}.")


def shipped_names(game: str) -> list[str]:
    """Returns the names of the policies that ship for a game."""
    return sorted(path.parent.name for path in (SHIPPED / game).glob(f"*/{checkpoint.ABOUT}"))
