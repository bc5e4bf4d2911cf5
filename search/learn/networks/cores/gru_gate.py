"""A gate in place of a residual connection (Parisotto et al., 2020, the GRU-type gate)."""

from typing import Any

import flax.linen as nn
import jax.numpy as jnp

from search.learn.api import Array
from search.learn.networks.initialisers import dense


class GruGate(nn.Module):
    """Lets a stream pass a layer: mostly unchanged at first, as the bias keeps the gate all but shut.

    Attributes:
        bias: initial value of what is taken off the gate before its sigmoid; it is learned.
        dtype: of the computation.
    """

    bias: float = 2.0
    dtype: Any = None

    @nn.compact
    def __call__(self, stream: Array, update: Array) -> Array:
        """Joins what came past a layer and what the layer made of it, both [..., H]."""
        width = stream.shape[-1]
        from_update = dense(3 * width, scale=1.0, dtype=self.dtype, name="update")(update)
        reset_in, gate_in, new_in = jnp.split(from_update, 3, axis=-1)
        reset_kept, gate_kept = jnp.split(self._linear(2 * width, "stream")(stream), 2, axis=-1)
        shut = self.param("shut", nn.initializers.constant(self.bias), (width,)).astype(gate_in.dtype)
        reset = nn.sigmoid(reset_in + reset_kept)
        gate = nn.sigmoid(gate_in + gate_kept - shut)
        new = jnp.tanh(new_in + self._linear(width, "reset_stream")(reset * stream))
        joined: Array = (1 - gate) * stream + gate * new
        return joined

    def _linear(self, features: int, name: str) -> nn.Dense:
        initial = nn.initializers.orthogonal()
        return nn.Dense(features, use_bias=False, kernel_init=initial, dtype=self.dtype, name=name)
