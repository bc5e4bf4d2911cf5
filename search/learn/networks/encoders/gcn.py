"""Graph convolution (Kipf and Welling, 2017)."""

from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from search.learn.api import Array
from search.learn.networks.initialisers import dense


def normalised(adjacency: Array) -> Array:
    """Returns D^(-1/2) A D^(-1/2) for a symmetric A [..., V, V] with self-connections, D the degrees of its nodes."""
    root = jax.lax.rsqrt(adjacency.sum(axis=-1))
    return root[..., :, None] * adjacency * root[..., None, :]


class Gcn(nn.Module):
    """Layers of graph convolution with an activation after each: activation(D^(-1/2) A D^(-1/2) X W + b).

    Attributes:
        width: of each layer.
        layers: their number: how many hops a message travels.
        activation: after each layer.
        dtype: of the computation.
    """

    width: int = 64
    layers: int = 2
    activation: Callable[[Array], Array] = nn.relu
    dtype: Any = None

    @nn.compact
    def __call__(self, nodes: Array, adjacency: Array) -> Array:
        """Returns nodes [..., V, width].

        Args:
            nodes: [..., V, f].
            adjacency: [..., V, V], symmetric, 1 where two nodes are joined, every node with itself.
        """
        mixing = normalised(adjacency.astype(jnp.float32)).astype(self.dtype or nodes.dtype)
        for layer in range(self.layers):
            gathered = mixing @ nodes.astype(mixing.dtype)
            nodes = self.activation(dense(self.width, dtype=self.dtype, name=f"convolution_{layer}")(gathered))
        return nodes
