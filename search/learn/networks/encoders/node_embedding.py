"""Features of graph nodes, embedded group by group (the Yōkai Learning Environment paper, appendix D.2, figure 9)."""

from typing import Any

import flax.linen as nn
import jax.numpy as jnp

from search.learn.api import Array
from search.learn.networks.config import Modality
from search.learn.networks.initialisers import dense


class NodeEmbedding(nn.Module):
    """A linear layer for each group of channels that mean one thing, a modality; what they say is put side by side.

    Attributes:
        modalities: the groups; without any, features stay as they are.
        dtype: of the computation.
    """

    modalities: tuple[Modality, ...]
    dtype: Any = None

    @nn.compact
    def __call__(self, nodes: Array) -> Array:
        """Embeds features [..., V, f] as [..., V, sum of the modalities' widths].

        Raises:
            ValueError: a modality ends beyond the last channel.
        """
        if not self.modalities:
            return nodes
        channels = nodes.shape[-1]
        if max(end for _, end, _ in self.modalities) > channels:
            raise ValueError(
                f"Nodes have {channels} channels, but the modalities are {self.modalities}: give modalities "
                "(first channel, channel after the last, width) of this very observation."
            )
        parts = [
            dense(width, dtype=self.dtype, name=f"modality_{index}")(nodes[..., first:end])
            for index, (first, end, width) in enumerate(self.modalities)
        ]
        return jnp.concatenate(parts, axis=-1)
