"""Graphs as vectors: features embedded by modality, a virtual node, graph layers, all nodes in one row.

As in the Yōkai Learning Environment paper (appendix D.2, figure 9).
"""

from collections.abc import Callable
from typing import Any, Literal, Protocol, TypeAlias

import flax.linen as nn
import jax.numpy as jnp

from search.learn.api import Array
from search.learn.networks.config import Modality
from search.learn.networks.encoders.gatv2 import Gatv2
from search.learn.networks.encoders.gcn import Gcn
from search.learn.networks.encoders.node_embedding import NodeEmbedding
from search.learn.networks.encoders.relation import Relation

GraphName: TypeAlias = Literal["gatv2", "gcn", "relation"]


class GraphObservation(Protocol):
    """What graph encoders read; any tree of arrays with these two fields."""

    @property
    def nodes(self) -> Array:
        """Features, [..., V, f]."""
        ...

    @property
    def adjacency(self) -> Array:
        """Which of the first Y nodes are joined, symmetric [..., Y, Y]; further nodes have no edges."""
        ...


def with_virtual_node(nodes: Array) -> Array:
    """Returns nodes [..., V, f] with one more, last, that is zero: [..., V + 1, f]."""
    return jnp.concatenate([nodes, jnp.zeros_like(nodes[..., :1, :])], axis=-2)


def connections(adjacency: Array, count: int) -> Array:
    """Returns the edges of a graph with its virtual node.

    Args:
        adjacency: [..., Y, Y], among the first Y nodes.
        count: V, nodes without the virtual one, Y or more.

    Returns:
        float32 [..., V + 1, V + 1]: the given edges, the virtual node's to all others, and every node's to itself.
    """
    missing = count + 1 - adjacency.shape[-1]
    padding = [(0, 0)] * (adjacency.ndim - 2) + [(0, missing)] * 2
    edges = jnp.pad((adjacency != 0).astype(jnp.float32), padding)
    place = jnp.arange(count + 1)
    extra = (place[:, None] == place) | (place == count) | (place[:, None] == count)
    return jnp.maximum(edges, extra.astype(jnp.float32))


class Graph(nn.Module):
    """The whole encoder; the relation module has no edges, so no virtual node either.

    Attributes:
        kind: of the layers.
        width: of each layer.
        layers: their number.
        heads: of attention, a divisor of the width.
        modalities: groups of channels that are embedded apart.
        activation: of the layers.
        dtype: of the computation.
    """

    kind: GraphName
    width: int = 64
    layers: int = 2
    heads: int = 4
    modalities: tuple[Modality, ...] = ()
    activation: Callable[[Array], Array] = nn.relu
    dtype: Any = None

    @nn.compact
    def __call__(self, observation: GraphObservation) -> Array:
        """Encodes a graph as a vector [..., E], E the nodes, with the virtual one, times the width."""
        nodes: Array = NodeEmbedding(self.modalities, self.dtype, name="embedding")(observation.nodes)
        if self.kind == "relation":
            relation = Relation(self.width, self.layers, self.heads, self.activation, self.dtype, name="layers")
            hidden: Array = relation(nodes)
        else:
            edges = connections(observation.adjacency, nodes.shape[-2])
            nodes = with_virtual_node(nodes)
            if self.kind == "gcn":
                layers = Gcn(self.width, self.layers, self.activation, self.dtype, name="layers")
            else:
                layers = Gatv2(self.width, self.layers, self.heads, self.activation, self.dtype, name="layers")
            hidden = layers(nodes, edges)
        return hidden.reshape(*hidden.shape[:-2], -1)
