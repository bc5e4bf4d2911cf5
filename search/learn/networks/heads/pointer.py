"""Scores actions by what they point at: an object, an item, a cell for either.

A linear layer has weights of its own for every pair of an object and a cell: that it is good to lay red beside red is
learned anew for each. Here an object's *query* meets a cell's *key*, made of what lies there and beside it by weights
that all cells share. Ours, not of a paper (the idea is that of pointer networks: Vinyals et al., 2015).
"""

from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax.numpy as jnp

from search.learn.api import Array
from search.learn.networks.config import ActionKind
from search.learn.networks.encoders.slots import at_cells, by_cell, parts, whereabouts
from search.learn.networks.initialisers import dense


def beside(grid: Array) -> Array:
    """Returns the sums over the up to four neighbours of every cell, [..., height, width, channels]."""
    widths = [(0, 0)] * (grid.ndim - 3)
    padded = jnp.pad(grid, [*widths, (1, 1), (1, 1), (0, 0)])
    rows = padded[..., :-2, 1:-1, :] + padded[..., 2:, 1:-1, :]
    columns = padded[..., 1:-1, :-2, :] + padded[..., 1:-1, 2:, :]
    total: Array = rows + columns
    return total


class Pointer(nn.Module):
    """Logits of actions that point at what an image shows.

    Attributes:
        actions: what the numbered actions point at, run after run; see `NetworkConfig`.
        slots: number of objects; see `search.learn.networks.encoders.slots.features`.
        identity_channel: see there.
        extra_columns: see there.
        items: so many things lie in the first extra column, from the top down.
        width: of queries and keys; the layer before the queries is twice as wide.
        scale: of the orthogonal weights of what makes queries and plain logits.
        activation: between layers.
        dtype: of the computation.
    """

    actions: tuple[ActionKind, ...]
    slots: int
    identity_channel: int
    extra_columns: int
    items: int
    width: int = 16
    scale: float = 0.0
    activation: Callable[[Array], Array] = nn.relu
    dtype: Any = None

    @nn.compact
    def __call__(self, hidden: Array, image: Array) -> Array:
        """Scores all actions.

        Args:
            hidden: [..., H], what the network thinks of the position.
            image: [..., height, width, channels].

        Returns:
            [..., N].

        Raises:
            NetworkConfigError: the objects are not those of such images.
        """
        grid, rest = parts(image, self.identity_channel, self.extra_columns)
        cells = by_cell(jnp.concatenate([grid, beside(grid)], axis=-1))
        things = {"objects": at_cells(cells, *whereabouts(grid[..., self.identity_channel], self.slots))}
        if self.items:
            things["items"] = rest[..., : self.items, 0, :]
        places = self.param("places", nn.initializers.zeros, (cells.shape[-2], self.width))
        keys = self.activation(dense(self.width, dtype=self.dtype, name="keys")(cells) + places)
        known = {name: self._known(name, hidden, shown) for name, shown in things.items()}
        queries = [
            dense(self.width, self.scale, self.dtype, name=f"{name}_queries")(seen) for name, seen in known.items()
        ]
        # One product for all: several small ones take longer.
        pairs = jnp.einsum("...id,...cd->...ic", jnp.concatenate(queries, axis=-2), keys)
        scored = {}
        for (name, seen), own in zip(known.items(), jnp.split(pairs, [self.slots], axis=-2), strict=False):
            scored[name] = dense(1, self.scale, self.dtype, name=f"{name}_alone")(seen)[..., 0]
            scored[f"{name} at cells"] = own.reshape(*own.shape[:-2], -1)
        plain = iter(self._plain(hidden))
        return jnp.concatenate([next(plain) if kind == "plain" else scored[kind] for kind in self.actions], axis=-1)

    def _plain(self, hidden: Array) -> list[Array]:
        """Returns the logits of the actions that point at nothing, each [..., 1]."""
        count = self.actions.count("plain")
        if not count:
            return []
        return jnp.split(dense(count, self.scale, self.dtype, name="plain")(hidden), count, axis=-1)

    def _known(self, name: str, hidden: Array, things: Array) -> Array:
        """Returns what is thought of each of some things, [..., things, 2 * width]."""
        width = 2 * self.width
        own = self.param(f"{name}_own", nn.initializers.normal(0.1), (things.shape[-2], width))
        context = dense(width, dtype=self.dtype, name=f"{name}_context")(hidden)
        features = dense(width, dtype=self.dtype, name=f"{name}_features")(things)
        known: Array = self.activation(features + own + context[..., None, :])
        return known
