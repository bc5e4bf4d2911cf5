"""A plain recurrent layer (the code world model paper, appendix D.1)."""

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from search.learn.api import Array
from search.learn.networks.initialisers import dense


class Rnn(nn.Module):
    """An Elman layer; the memory is float32 [L, H].

    Attributes:
        width: H.
        dtype: of the computation; the memory stays float32.
    """

    width: int = 256
    dtype: Any = None

    def initial_memory(self, lanes: int) -> Array:
        """Returns the memory of sequences that have seen nothing, float32 [L, H]."""
        return jnp.zeros((lanes, self.width), jnp.float32)

    @nn.compact
    def __call__(self, memory: Array, inputs: Array, starts: Array) -> tuple[Array, Array]:
        """Reads steps; see `Network.apply`.

        Args:
            memory: float32 [L, H].
            inputs: [T, L, E].
            starts: bool [T, L].

        Returns:
            The memory after the last step, and that after every step, [T, L, H].
        """
        driven = dense(self.width, scale=1.0, dtype=self.dtype, name="input")(inputs)
        weights = self.param("memory", nn.initializers.orthogonal(), (self.width, self.width)).astype(driven.dtype)

        def step(memory: Array, now: tuple[Array, Array]) -> tuple[Array, Array]:
            driven_now, start = now
            memory = jnp.where(start[:, None], 0.0, memory)
            following = jnp.tanh(driven_now + memory.astype(driven_now.dtype) @ weights)
            return following.astype(jnp.float32), following

        return jax.lax.scan(step, memory, (driven, starts))
