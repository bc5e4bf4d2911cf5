"""Best responses: one learner, and co-players drawn for every game from networks and from hand-written policies."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from games.batched.api import Array, BatchedEnv, Outcome, Transition
from search.learn import masked_categorical
from search.learn.api import BatchedPolicy, Memory, Network, Observation, Params
from search.learn.methods.population import FictitiousPartners


class DrawnNetwork:
    """A network as a member of a population beside others: its actions are drawn by its logits."""

    def __init__(self, network: Network) -> None:
        self._network = network

    def initial(self, lanes: int) -> Memory:
        """Returns the memory of L sequences that have seen nothing."""
        return self._network.initial_memory(lanes)

    def act(
        self, params: Params, memory: Memory, observation: Observation, legal: Array, keys: Array
    ) -> tuple[Memory, Array]:
        """Chooses an action of each lane; see `BatchedPolicy`."""
        shown = jax.tree.map(lambda leaf: leaf[None], observation)
        frozen: Any = jax.lax.stop_gradient(params)
        memory, said = self._network.apply(frozen, memory, shown, jnp.zeros((1, len(legal)), bool))
        return memory, jax.vmap(masked_categorical.sample)(keys, said.logits[0], legal).astype(jnp.int32)


class PaidState(NamedTuple):
    """A game of one player, and what the player was paid so far, float32 []; lanes last."""

    game: Any
    paid: Array


class OwnReturn:
    """A game of one player whose outcome tells what that player was paid, in place of what all were."""

    def __init__(self, env: BatchedEnv[Any]) -> None:
        self.env = env

    @property
    def num_players(self) -> int:
        return 1

    @property
    def num_actions(self) -> int:
        return self.env.num_actions

    @property
    def image_shape(self) -> tuple[int, int, int]:
        return self.env.image_shape

    def init(self, key: Array) -> PaidState:
        """Returns a freshly dealt game, or B games."""
        return PaidState(self.env.init(key), jnp.zeros(key.shape, jnp.float32))

    def step(self, state: PaidState, actions: Array, keys: Array) -> tuple[PaidState, Transition]:
        """Plays one action of the player, int32 [1]."""
        game, paid = self.env.step(state.game, actions, keys)
        return PaidState(game, state.paid + paid.reward[..., 0]), paid

    def legal_mask(self, state: PaidState) -> Array:
        return self.env.legal_mask(state.game)

    def sample(self, state: PaidState, uniform: Array) -> Array:
        return self.env.sample(state.game, uniform)

    def observe(self, state: PaidState) -> Array:
        return self.env.observe(state.game)

    def is_over(self, state: PaidState) -> Array:
        return self.env.is_over(state.game)

    def outcome(self, state: PaidState) -> Outcome:
        """Returns what came of the game; its total is what the player was paid."""
        return self.env.outcome(state.game)._replace(total=state.paid)


def against(
    env: BatchedEnv[Any],
    members: Sequence[tuple[BatchedPolicy, Params]],
    seat: Array | int | None = None,
    shares: Array | None = None,
) -> OwnReturn:
    """Returns the game of one learner among a population.

    Args:
        env: the game.
        members: of the population, at least one, each with its parameters.
        seat: the learner's, int32 []; None: drawn for every game.
        shares: float32 [members], how likely each is drawn; None: equally.
    """
    return OwnReturn(FictitiousPartners(env, None, (), members, seat, shares))
