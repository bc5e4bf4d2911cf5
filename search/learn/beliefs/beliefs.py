"""Beliefs about what a game hides, as functions that an off-belief learner draws from."""

from typing import Protocol

import jax.numpy as jnp

from search.learn.api import Array, Memory, Observation, Params
from search.learn.beliefs.hidden import complete


class LearnedBelief(Protocol):
    """Draws what a player cannot see, given all that it has seen."""

    def initial_memory(self, lanes: int) -> Memory:
        """Returns the memory of L sequences that have seen nothing."""
        ...

    def read(self, params: Params, memory: Memory, observation: Observation, starts: Array) -> tuple[Memory, Array]:
        """Reads T steps of L sequences, as `Network.apply` does; returns memory and features, float32 [T, L, F]."""
        ...

    def sample(self, params: Params, features: Array, known: Array, key: Array) -> Array:
        """Draws what the slots hold.

        Args:
            params: of the belief.
            features: float32 [..., F], after the player's last observation.
            known: int32 [..., S], what the player has seen itself.
            key: typed key [].

        Returns:
            int32 [..., S], consistent with what is known and with the number of each kind.
        """
        ...


class UniformBelief:
    """Every assignment that agrees with what the player has seen itself, with equal probability.

    This is the exact belief about partners that play uniformly random legal actions, where no legal action depends on
    what is hidden; it has no parameters.
    """

    def __init__(self, counts: tuple[int, ...]) -> None:
        """Sets up the belief; `counts` are the slots by kind."""
        self.counts = counts

    def initial_memory(self, lanes: int) -> Memory:
        """Returns no memory."""
        return ()

    def read(self, params: Params, memory: Memory, observation: Observation, starts: Array) -> tuple[Memory, Array]:
        """Reads nothing; the features are one zero, [T, L, 1]."""
        return memory, jnp.zeros((*starts.shape, 1), jnp.float32)

    def sample(self, params: Params, features: Array, known: Array, key: Array) -> Array:
        """Draws an assignment, int32 [..., S]; see `LearnedBelief.sample`."""
        return complete(known, self.counts, lambda slot, _: jnp.zeros(len(self.counts)), key)
