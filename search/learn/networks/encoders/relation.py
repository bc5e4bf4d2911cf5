"""Self-attention of all nodes over all nodes (the relation module of Zambaldi et al., 2018)."""

from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from search.learn.api import Array
from search.learn.networks.initialisers import dense


class Relation(nn.Module):
    """Layers of self-attention: what a node hears is added to what it held, normalised, and given an activation.

    Edges play no part: every node hears every node.

    Attributes:
        width: of each layer.
        layers: their number.
        heads: of each layer, a divisor of the width.
        activation: after each layer.
        dtype: of the computation; softmax is taken in float32.
    """

    width: int = 64
    layers: int = 4
    heads: int = 4
    activation: Callable[[Array], Array] = nn.relu
    dtype: Any = None

    @nn.compact
    def __call__(self, nodes: Array) -> Array:
        """Returns nodes [..., V, width] for nodes [..., V, f]."""
        hidden: Array = dense(self.width, dtype=self.dtype, name="entry")(nodes)
        for layer in range(self.layers):
            heard = dense(self.width, dtype=self.dtype, name=f"joined_{layer}")(self._heard(hidden, layer))
            normed = nn.LayerNorm(dtype=self.dtype, name=f"norm_{layer}")(hidden + heard)
            hidden = self.activation(normed)
        return hidden

    def _heard(self, nodes: Array, layer: int) -> Array:
        """Returns what each node gathers from all, heads side by side, [..., V, width]."""
        each = self.width // self.heads
        shape = (*nodes.shape[:-1], self.heads, each)
        queries, keys, values = (
            dense(self.width, dtype=self.dtype, name=f"{role}_{layer}")(nodes).reshape(shape)
            for role in ("query", "key", "value")
        )
        scores = jnp.einsum("...ihd,...jhd->...hij", queries, keys).astype(jnp.float32) / each**0.5
        shares = jax.nn.softmax(scores, axis=-1).astype(values.dtype)
        return jnp.einsum("...hij,...jhd->...ihd", shares, values).reshape(nodes.shape)
