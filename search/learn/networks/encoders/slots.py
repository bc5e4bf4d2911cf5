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
from search.learn.errors import NetworkConfigError
from search.learn.networks.heads.mlp import Mlp


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

    Raises:
        NetworkConfigError: the image has no such channel, or no grid beside so many columns.
    """
    grid, rest = parts(image, identity_channel, extra_columns)
    columns = grid.shape[-2]
    cell, there = whereabouts(grid[..., identity_channel], slots)
    shown = at_cells(by_cell(grid), cell, there)
    row, column = jnp.where(there, cell // columns, -1), jnp.where(there, cell % columns, -1)
    by_row = jax.nn.one_hot(row, grid.shape[-3], dtype=image.dtype)
    by_column = jax.nn.one_hot(column, columns, dtype=image.dtype)
    steps = jnp.abs(row[..., :, None] - row[..., None, :]) + jnp.abs(column[..., :, None] - column[..., None, :])
    touch = ((steps == 1) & there[..., :, None] & there[..., None, :]).astype(image.dtype)
    every = jnp.concatenate([shown, by_row, by_column, touch], axis=-1)
    leading = image.shape[:-3]
    return jnp.concatenate([every.reshape(*leading, -1), rest.reshape(*leading, -1)], axis=-1)


def parts(image: Array, identity_channel: int, extra_columns: int) -> tuple[Array, Array]:
    """Returns the grid of an image and the columns beside it; arguments and errors as for `features`."""
    if identity_channel >= image.shape[-1] or extra_columns >= image.shape[-2]:
        raise NetworkConfigError(
            f"Images are {' × '.join(map(str, image.shape[-3:]))}, but objects names channel {identity_channel} and "
            f"{extra_columns} columns beside the grid: give objects of this very image."
        )
    columns = image.shape[-2] - extra_columns
    return image[..., :columns, :], image[..., columns:, :]


def whereabouts(identities: Array, slots: int) -> tuple[Array, Array]:
    """Returns the cell of every object, row by row, and whether it lies on the grid; int32 and bool [..., slots].

    Args:
        identities: [..., height, columns], the identity channel of `features`.
        slots: number of objects.
    """
    number = jnp.round(identities * slots).astype(jnp.int32).reshape(*identities.shape[:-2], -1)
    cells = jnp.arange(1, number.shape[-1] + 1)
    found = jnp.stack([jnp.where(number == slot + 1, cells, 0).max(axis=-1) for slot in range(slots)], axis=-1)
    return jnp.maximum(found - 1, 0), found > 0


def by_cell(grid: Array) -> Array:
    """Returns a grid [..., height, columns, channels] as [..., height * columns, channels]."""
    return grid.reshape(*grid.shape[:-3], -1, grid.shape[-1])


def at_cells(cells: Array, cell: Array, there: Array) -> Array:
    """Returns what the cells of the objects show, [..., slots, channels]; nothing of those that lie nowhere."""
    return jnp.take_along_axis(cells, cell[..., None], axis=-2) * there[..., None].astype(cells.dtype)


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
