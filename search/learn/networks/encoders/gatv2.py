"""Graph attention whose ranking of neighbours depends on who asks (GATv2: Brody et al., 2022)."""

from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from search.learn.api import Array
from search.learn.networks.initialisers import ROOT_TWO, dense

SLOPE = 0.2
"""Of the leaky rectifier, for negative numbers."""


class Gatv2Layer(nn.Module):
    """One layer: node `i` scores its neighbour `j` by a · LeakyReLU(W x_i + U x_j) and gathers U x_j by softmax.

    Heads stand side by side in the result.

    Attributes:
        width: of the result, all heads together.
        heads: their number, a divisor of the width.
        dtype: of the computation; softmax is taken in float32.
    """

    width: int = 64
    heads: int = 4
    dtype: Any = None

    @nn.compact
    def __call__(self, nodes: Array, adjacency: Array) -> Array:
        """Returns nodes [..., V, width], without activation.

        Args:
            nodes: [..., V, f].
            adjacency: [..., V, V], not 0 where the row's node hears the column's; every node hears itself.
        """
        each = self.width // self.heads
        shape = (*nodes.shape[:-1], self.heads, each)
        asks = dense(self.width, dtype=self.dtype, name="asks")(nodes).reshape(shape)
        says = dense(self.width, dtype=self.dtype, name="says")(nodes).reshape(shape)
        weights = self.param("attention", nn.initializers.orthogonal(ROOT_TWO), (self.heads, each)).astype(says.dtype)
        both = nn.leaky_relu(asks[..., :, None, :, :] + says[..., None, :, :, :], SLOPE)
        # A sum of products, not an einsum: compilers fuse it, and [..., V, V, heads, each] is never written out.
        scores = (both * weights).sum(axis=-1).astype(jnp.float32)
        shares = jax.nn.softmax(scores, axis=-2, where=(adjacency != 0)[..., None])
        gathered = jnp.einsum("...ijh,...jhd->...ihd", shares.astype(says.dtype), says)
        shift = self.param("bias", nn.initializers.zeros, (self.width,)).astype(says.dtype)
        result: Array = gathered.reshape(*nodes.shape[:-1], self.width) + shift
        return result


class Gatv2(nn.Module):
    """Layers of graph attention with an activation after each.

    Attributes:
        width: of each layer.
        layers: their number: how many hops a message travels.
        heads: of each layer, a divisor of the width.
        activation: after each layer.
        dtype: of the computation.
    """

    width: int = 64
    layers: int = 2
    heads: int = 4
    activation: Callable[[Array], Array] = nn.relu
    dtype: Any = None

    @nn.compact
    def __call__(self, nodes: Array, adjacency: Array) -> Array:
        """Returns nodes [..., V, width]; arguments as of `Gatv2Layer`."""
        for layer in range(self.layers):
            heard = Gatv2Layer(self.width, self.heads, self.dtype, name=f"attention_{layer}")(nodes, adjacency)
            nodes = self.activation(heard)
        return nodes
