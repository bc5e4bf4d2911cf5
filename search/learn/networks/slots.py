"""Reads an image object by object: where each lies, what its cell shows, which objects touch.

Where objects keep an identity while they move over a grid, a layer that sees cells alone has to bind identity, place
and features anew at every cell. Here each object has a place of its own in the vector, wherever it lies. Ours, not of
a paper: it makes small networks learn on processors what otherwise takes convolutions and an accelerator.
"""

from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from search.learn.api import Array
from search.learn.networks.mlp import Mlp


def features(image: Array, slots: int, identity_channel: int, extra_columns: int) -> Array:
    """Returns what an image shows, object by object, as one vector.

    Args:
        image: [..., height, width, channels]; a cell that holds object i has (i + 1) / slots in its identity channel,
            other cells 0.
        slots: number of objects.
        identity_channel: see above.
        extra_columns: so many columns at the right are no part of the grid; they are passed on as they are.

    Returns:
        [..., slots * (channels + height + columns + slots) + extra_columns * height * channels], where columns are
        those of the grid: of every object its cell's channels, its row and column one-hot, and which objects touch it.
    """
    columns = image.shape[-2] - extra_columns
    grid, rest = image[..., :columns, :], image[..., columns:, :]
    number = jnp.round(grid[..., identity_channel] * slots).astype(jnp.int32)
    lies = jax.nn.one_hot(number - 1, slots, dtype=image.dtype)
    rows, places = lies.sum(axis=-2), lies.sum(axis=-3)
    shown = jnp.einsum("...hwi,...hwf->...if", lies, grid)
    by_row, by_column = jnp.swapaxes(rows, -1, -2), jnp.swapaxes(places, -1, -2)
    touch = _beside(by_row, by_column) + _beside(by_column, by_row)
    every = jnp.concatenate([shown, by_row, by_column, touch], axis=-1)
    leading = image.shape[:-3]
    return jnp.concatenate([every.reshape(*leading, -1), rest.reshape(*leading, -1)], axis=-1)


def _beside(along: Array, across: Array) -> Array:
    """Returns which objects are one step apart along one axis and level on the other, [..., slots, slots]."""
    level = jnp.einsum("...ic,...jc->...ij", across, across)
    after = jnp.einsum("...ic,...jc->...ij", along[..., :-1], along[..., 1:])
    return level * (after + jnp.swapaxes(after, -1, -2))


class Slots(nn.Module):
    """An `Mlp` over what an image shows object by object.

    Attributes:
        slots: see `features`.
        identity_channel: see `features`.
        extra_columns: see `features`.
        width: of each layer.
        layers: their number.
        activation: after each layer.
        dtype: of the computation.
    """

    slots: int
    identity_channel: int
    extra_columns: int = 0
    width: int = 128
    layers: int = 1
    activation: Callable[[Array], Array] = nn.relu
    dtype: Any = None

    @nn.compact
    def __call__(self, image: Array) -> Array:
        """Encodes images [..., height, width, channels] as vectors [..., width]."""
        seen = features(image, self.slots, self.identity_channel, self.extra_columns)
        encoded: Array = Mlp(self.width, self.layers, 1, self.activation, self.dtype, name="layers")(seen)
        return encoded
