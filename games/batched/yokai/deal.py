"""Dealing, card by card and hint by hint as chance does in the reference game, without sorting."""

import jax
import jax.numpy as jnp

from games.batched.api import Array, along, lanes_last
from games.batched.yokai.state import Sizes


def deal(sizes: Sizes, key: Array) -> tuple[Array, Array]:
    """Draws colours and hints.

    A number below m is drawn as 32 random bits modulo m; with m at most 16 no outcome is more than 4e-9 off.

    Args:
        sizes: of the configuration.
        key: a typed key [], or [B].

    Returns:
        colours int32 [Y] and hints int32 [H], see `State`.
    """
    needed = sizes.cards + 2 * sizes.hints
    if key.ndim:
        bits = lanes_last(jax.vmap(lambda one: jax.random.bits(one, (needed,)))(key), True)
    else:
        bits = jax.random.bits(key, (needed,))
    return _colours(sizes, bits[: sizes.cards]), _hints(sizes, bits[sizes.cards :])


def _colours(sizes: Sizes, bits: Array) -> Array:
    per_colour = sizes.config.cards_per_colour
    left = [jnp.full_like(bits[0], per_colour) for _ in range(sizes.colours)]
    drawn = []
    for card in range(sizes.cards):
        rest = bits[card] % jnp.uint32(sizes.cards - card)
        colour = jnp.zeros(rest.shape, jnp.int32)
        bound = jnp.zeros_like(rest)
        for count in left[:-1]:
            bound = bound + count
            colour = colour + (rest >= bound)
        left = [count - (colour == index) for index, count in enumerate(left)]
        drawn.append(colour)
    return jnp.stack(drawn)


def _hints(sizes: Sizes, bits: Array) -> Array:
    masks = sizes.subset_masks
    like = bits[0]
    size_of = along([int(mask).bit_count() for mask in masks], like)
    free = jnp.ones((len(masks), *like.shape), bool)
    left = [jnp.full_like(like, count) for count in sizes.config.hints_by_size]
    drawn = []
    for hint in range(sizes.hints):
        rest = bits[2 * hint] % jnp.uint32(sizes.hints - hint)
        size = (1 + (rest >= left[0]) + (rest >= left[0] + left[1])).astype(jnp.int32)
        left = [count - (size == index) for index, count in enumerate(left, start=1)]
        eligible = free & (size_of == size)
        rank = bits[2 * hint + 1] % jnp.maximum(eligible.sum(axis=0, dtype=jnp.uint32), 1)
        chosen = eligible & (jnp.cumsum(eligible, axis=0, dtype=jnp.uint32) == rank + 1)
        free = free & ~chosen
        drawn.append(jnp.where(chosen, along(masks, like), 0).sum(axis=0, dtype=jnp.int32))
    return jnp.stack(drawn)
