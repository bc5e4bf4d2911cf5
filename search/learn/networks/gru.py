"""A gated recurrent unit over sequences that hold several episodes.

The products of the input weights are taken for all steps at once; only those of the memory are inside the loop.
"""

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from search.learn.api import Array
from search.learn.networks.initialisers import dense

GATES = 3


def orthogonal_gates(key: Array, shape: tuple[int, int], dtype: Any = jnp.float32) -> Array:
    """Returns one orthogonal matrix a gate, side by side, float32 [H, gates * H]."""
    width = shape[0]
    made = [
        nn.initializers.orthogonal()(one, (width, width), dtype) for one in jax.random.split(key, shape[1] // width)
    ]
    return jnp.concatenate(made, axis=1)


class Gru(nn.Module):
    """A gated recurrent unit (Cho et al., 2014); the memory is float32 [L, H].

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
        driven = dense(GATES * self.width, scale=1.0, dtype=self.dtype, name="input")(inputs)
        weights = self.param("memory", orthogonal_gates, (self.width, GATES * self.width))
        shift = self.param("memory_bias", nn.initializers.zeros, (self.width,))
        kind = driven.dtype
        weights = weights.astype(kind)

        def step(memory: Array, now: tuple[Array, Array]) -> tuple[Array, Array]:
            driven_now, start = now
            memory = jnp.where(start[:, None], 0.0, memory)
            kept = memory.astype(kind) @ weights
            reset_in, update_in, new_in = jnp.split(driven_now, GATES, axis=-1)
            reset_kept, update_kept, new_kept = jnp.split(kept, GATES, axis=-1)
            reset = jax.nn.sigmoid(reset_in + reset_kept)
            update = jax.nn.sigmoid(update_in + update_kept)
            new = jnp.tanh(new_in + reset * (new_kept + shift.astype(kind)))
            following = (1 - update) * new + update * memory.astype(kind)
            return following.astype(jnp.float32), following

        return jax.lax.scan(step, memory, (driven, starts))
