"""Fully connected layers over flat observations (the code world model paper, appendix D.1)."""

from collections.abc import Callable
from typing import Any

import flax.linen as nn

from search.learn.api import Array
from search.learn.networks.initialisers import dense


class Mlp(nn.Module):
    """Linear layers of one width with an activation after each.

    Attributes:
        width: of each layer.
        layers: their number.
        rank: axes of one observation, which are flattened.
        activation: after each layer.
        dtype: of the computation.
    """

    width: int = 256
    layers: int = 2
    rank: int = 1
    activation: Callable[[Array], Array] = nn.tanh
    dtype: Any = None

    @nn.compact
    def __call__(self, observation: Array) -> Array:
        """Encodes arrays [..., *one observation] as vectors [..., width]."""
        hidden = observation.reshape(*observation.shape[: observation.ndim - self.rank], -1)
        for layer in range(self.layers):
            hidden = self.activation(dense(self.width, dtype=self.dtype, name=f"linear_{layer}")(hidden))
        return hidden
