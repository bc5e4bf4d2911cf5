"""Fully connected layers over flat observations (the code world model paper, appendix D.1)."""

from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from search.learn.api import Array
from search.learn.errors import NetworkConfigError
from search.learn.networks.config import Values
from search.learn.networks.initialisers import dense


def one_of(vectors: Array, values_of: tuple[Values, ...]) -> Array:
    """Returns vectors of whole numbers [..., n] with each place as one of those that it may hold, [..., sum of counts].

    A number that no place should hold is read as none of them.

    Raises:
        NetworkConfigError: there are not so many places.
    """
    if vectors.shape[-1] != len(values_of):
        raise NetworkConfigError(
            f"values_of tells of {len(values_of)} places, but observations have {vectors.shape[-1]}: give those of "
            "this very game."
        )
    places = [
        jax.nn.one_hot(vectors[..., place].astype(jnp.int32) - lowest, count)
        for place, (lowest, count) in enumerate(values_of)
    ]
    return jnp.concatenate(places, axis=-1)


class Mlp(nn.Module):
    """Linear layers with an activation after each.

    Attributes:
        width: of each layer.
        layers: their number.
        rank: axes of one observation, which are flattened.
        activation: after each layer.
        dtype: of the computation.
        widths: of layers that differ, in place of `layers` of one `width`.
        values_of: see `NetworkConfig.values_of`.
    """

    width: int = 256
    layers: int = 2
    rank: int = 1
    activation: Callable[[Array], Array] = nn.tanh
    dtype: Any = None
    widths: tuple[int, ...] = ()
    values_of: tuple[Values, ...] = ()

    @nn.compact
    def __call__(self, observation: Array) -> Array:
        """Encodes arrays [..., *one observation] as vectors [..., width of the last layer]."""
        hidden = observation.reshape(*observation.shape[: observation.ndim - self.rank], -1)
        if self.values_of:
            hidden = one_of(hidden, self.values_of)
        for layer, width in enumerate(self.widths or (self.width,) * self.layers):
            hidden = self.activation(dense(width, dtype=self.dtype, name=f"linear_{layer}")(hidden))
        return hidden
