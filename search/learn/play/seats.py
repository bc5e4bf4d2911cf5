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


def deciding(legal: Array) -> tuple[Array, Array]:
    """Returns who decides in each game.

    Args:
        legal: bool [E, P, N].

    Returns:
        int32 [E], the first player with more than one legal action, and bool [E], whether there is one.
    """
    choices = legal.sum(axis=-1) > 1
    return jnp.argmax(choices, axis=-1).astype(jnp.int32), choices.any(axis=-1)


def of_decider(values: Array, deciders: Array) -> Array:
    """Returns the part of one player of each game at each step.

    Args:
        values: [T, E * P, ...].
        deciders: int32 [T, E].

    Returns:
        [T, E, ...].
    """
    steps, games = deciders.shape
    by_player = values.reshape(steps, games, values.shape[1] // games, *values.shape[2:])
    index = deciders.reshape(steps, games, *[1] * (by_player.ndim - 2))
    return jnp.take_along_axis(by_player, index, axis=2)[:, :, 0]
