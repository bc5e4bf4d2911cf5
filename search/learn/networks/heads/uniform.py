"""A policy that prefers nothing: with the mask of legal actions, it plays uniformly at random."""

import jax.numpy as jnp

from search.learn.api import Array, Memory, Observation, Outputs, Params


class UniformPolicy:
    """A `Network` without parameters and memory whose logits and values are all 0.

    Attributes:
        num_actions: N.
    """

    def __init__(self, num_actions: int) -> None:
        self.num_actions = num_actions

    def initial_memory(self, lanes: int) -> Memory:
        """Returns no memory."""
        return ()

    def init(self, key: Array, observation: Observation) -> Params:
        """Returns no parameters."""
        return {}

    def apply(
        self,
        params: Params,
        memory: Memory,
        observation: Observation,
        starts: Array,
        deciders: Array | None = None,
    ) -> tuple[Memory, Outputs]:
        """Reads nothing; see `Network.apply`."""
        leading = starts.shape if deciders is None else deciders.shape
        logits = jnp.zeros((*leading, self.num_actions), jnp.float32)
        return memory, Outputs(logits, jnp.zeros(starts.shape, jnp.float32), jnp.zeros((*leading, 0), jnp.float32))
