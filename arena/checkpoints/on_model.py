"""A policy that was trained on a model, as it lies on disk and as it plays.

Its `config.json` says: `kind`, `game`, `info`, `seat`, `view`, `model` (hash), `actions`, `vectors`, `network`, `steps`
(trained), `seed`, `results` (on the model) of all seeds, and the `settings`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from games.api import Action
from search.learn import checkpoint
from search.learn.api import Params
from search.learn.errors import CheckpointError, NetworkConfigError
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig
from search.learn.ppo.host_play import HostPolicy
from search.learn.ranges import is_whole

KIND: Final = "ppo-cwm"
ZERO: Final = "alphazero-cwm"
KINDS: Final = (KIND, ZERO)


@dataclass(frozen=True)
class SeatPolicy:
    """A trained network for one seat.

    Attributes:
        about: all that its `config.json` says.
        actions: N strings; the place is the number.
        policy: the network.
        params: its parameters.
    """

    about: dict[str, Any]
    actions: tuple[Action, ...]
    policy: HostPolicy
    params: Params


def load(folder: Path) -> SeatPolicy:
    """Reads a policy.

    Raises:
        CheckpointError: there is none, it is damaged, or it was not trained on a model.
    """
    about = checkpoint.load_about(folder)
    try:
        if about["kind"] not in KINDS:
            raise CheckpointError(f"The checkpoint in {folder} was not trained on a model: it is {about['kind']!r}.")
        actions = tuple(about["actions"])
        network, width = ActorCritic(NetworkConfig.from_json(about["network"]), len(actions), rank=1), about["width"]
    except KeyError as error:
        raise CheckpointError(f"The checkpoint in {folder} lacks {error}: it was not trained on a model.") from error
    except (TypeError, AttributeError, NetworkConfigError) as error:
        raise CheckpointError(f"The {checkpoint.ABOUT} in {folder} is damaged ({error}): restore it.") from error
    if not is_whole(width, 1):
        raise CheckpointError(
            f"The {checkpoint.ABOUT} in {folder} is damaged (width is {width!r}: expected a whole number from 1 on): "
            "restore it."
        )
    shapes = jax.eval_shape(lambda key: network.init(key, jnp.zeros((1, 1, width))), jax.random.key(0))
    return SeatPolicy(about, actions, HostPolicy(network), checkpoint.load_policy(folder, shapes))


class Player:
    """Plays one game with a policy, remembering what it saw.

    Args:
        policy: trained for the seat.
        greedy: take the likeliest action; else draw one.
    """

    def __init__(self, policy: SeatPolicy, greedy: bool) -> None:
        self._policy = policy
        self._greedy = greedy
        self._memory = policy.policy.network.initial_memory(1)
        self._numbers = {name: number for number, name in enumerate(policy.actions)}
        self._started = False

    def legal(self, actions: Sequence[Action]) -> list[int]:
        """Returns the numbers of those legal actions that the policy knows."""
        return [self._numbers[action] for action in actions if action in self._numbers]

    def choose(self, vector: Sequence[float], legal: Sequence[int], seed: int) -> Action:
        """Chooses an action and remembers the observation.

        Args:
            vector: the observation, shape [W].
            legal: numbers of legal actions, at least one.
            seed: of the draw.
        """
        mask = np.zeros((1, len(self._policy.actions)), np.bool_)
        mask[0, list(legal)] = True
        seen = np.asarray([vector], np.float32)
        starts = np.array([not self._started])
        play, params = self._policy.policy, self._policy.params
        if self._greedy:
            choice = play.greedy(params, self._memory, seen, starts, mask)
        else:
            choice = play.sample(params, self._memory, seen, starts, mask, jax.random.key(seed & 0xFFFFFFFF))
        self._memory, self._started = choice.memory, True
        return self._policy.actions[int(choice.action[0])]
