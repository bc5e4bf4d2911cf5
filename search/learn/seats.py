"""Picking one player's part of arrays that hold all players of every game."""

import jax.numpy as jnp

from search.learn.api import Array


def of_player(values: Array, player: Array) -> Array:
    """Returns the part of one player of each game.

    Args:
        values: [E, P, ...].
        player: int32 [E].

    Returns:
        [E, ...].
    """
    index = player.reshape(-1, *[1] * (values.ndim - 1))
    return jnp.take_along_axis(values, index, axis=1)[:, 0]
