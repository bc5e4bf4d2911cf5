"""A long short-term memory over sequences that hold several episodes.

The products of the input weights are taken for all steps at once; only those of the memory are inside the loop.
"""

from typing import NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp

from search.learn.api import Array
from search.learn.networks.cores.gru import orthogonal_gates
from search.learn.networks.initialisers import dense

GATES = 4


class LstmMemory(NamedTuple):
    """What the layer carries; both float32 [L, H]."""

    cell: Array
    hidden: Array


class Lstm(nn.Module):
    """A long short-term memory (Hochreiter and Schmidhuber, 1997).

    Attributes:
        width: H.
    """

    width: int = 256

    def initial_memory(self, lanes: int) -> LstmMemory:
        """Returns the memory of sequences that have seen nothing."""
        empty = jnp.zeros((lanes, self.width), jnp.float32)
        return LstmMemory(empty, empty)

    @nn.compact
    def __call__(self, memory: LstmMemory, inputs: Array, starts: Array) -> tuple[LstmMemory, Array]:
        """Reads steps; see `Network.apply`.

        Args:
            memory: before the first step.
            inputs: float32 [T, L, E].
            starts: bool [T, L].

        Returns:
            The memory after the last step, and the hidden part after every step, [T, L, H].
        """
        driven = dense(GATES * self.width, scale=1.0, name="input")(inputs)
        weights = self.param("memory", orthogonal_gates, (self.width, GATES * self.width))

        def step(memory: LstmMemory, now: tuple[Array, Array]) -> tuple[LstmMemory, Array]:
            driven_now, start = now
            cell, hidden = (jnp.where(start[:, None], 0.0, part) for part in memory)
            enter, keep, new, show = jnp.split(driven_now + hidden @ weights, GATES, axis=-1)
            # The gate that keeps begins nearly open, so that what was seen early is not forgotten at once.
            cell = jax.nn.sigmoid(keep + 1.0) * cell + jax.nn.sigmoid(enter) * jnp.tanh(new)
            hidden = jax.nn.sigmoid(show) * jnp.tanh(cell)
            return LstmMemory(cell, hidden), hidden

        return jax.lax.scan(step, memory, (driven, starts))
