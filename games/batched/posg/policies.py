"""Hand-written policies in lanes: what they may do is a function of what they remember and are told."""

from abc import ABC, abstractmethod
from typing import Any

import jax
import jax.numpy as jnp

from games.batched.api import Array


class BatchedPartner(ABC):
    """A policy as `search.learn.api.BatchedPolicy`: the batched twin of one in the `partners` of a reference.

    Memories are trees of arrays [L, ...]; observations are vectors of the reference, float32 [L, F], zeros for an agent
    who is told nothing any more, of whom nothing is asked but that nothing fails.
    """

    @abstractmethod
    def initial(self, lanes: int) -> Any:
        """Returns the memory of L agents that were told nothing."""

    @abstractmethod
    def chances(self, memory: Any, seen: Array) -> tuple[Any, Array]:
        """Returns the memory after agents were told something, and the probability of every action, float32 [L, N]."""

    @abstractmethod
    def acted(self, memory: Any, actions: Array) -> Any:
        """Returns the memory after agents did something, int32 [L]."""

    def act(self, params: Any, memory: Any, observation: Array, legal: Array, keys: Array) -> tuple[Any, Array]:
        """Draws an action of each lane; see the protocol."""
        memory, chances = self.chances(memory, observation.reshape(len(legal), -1))
        chances = jnp.where(legal, chances, 0.0)
        chances = jnp.where(chances.any(axis=1, keepdims=True), chances, legal)
        reached = jnp.cumsum(chances, axis=1)
        mark = jax.vmap(jax.random.uniform)(keys) * reached[:, -1]
        actions = jnp.argmax(reached > mark[:, None], axis=1).astype(jnp.int32)
        return self.acted(memory, actions), actions
