"""Legal moves as the Yōkai paper finds them (its Eq. 5 and 6): the baseline of the speed measurements.

Every candidate (card, cell) gets an adjacency matrix; it is legal if (I + A) to the power of at least Y - 1 has no
zero. The power is taken by repeated squaring in float32, all Y·g² candidates of a game in one vmap.
"""

import math

import jax
import jax.numpy as jnp

from games.batched.api import Array, lanes_last
from games.batched.yokai.state import Sizes


def squarings(sizes: Sizes) -> int:
    """Returns how often the matrix is squared: the smallest power of two from Y - 1 on."""
    return math.ceil(math.log2(sizes.cards - 1))


def flops(sizes: Sizes) -> int:
    """Returns the multiplications and additions of the matrix products for one game."""
    return sizes.cards * sizes.area * squarings(sizes) * 2 * sizes.cards**3


def legal_moves(sizes: Sizes, cells: Array, locked: Array) -> Array:
    """Returns the legal targets of every card, as `games.batched.yokai.moves.legal_moves` does, uint32 [Y, W]."""
    lanes = cells.ndim > 1
    if lanes:
        found = jax.vmap(lambda own, fixed: _one_game(sizes, own, fixed), in_axes=(-1, -1))(cells, locked)
        return lanes_last(found, True)
    return _one_game(sizes, cells, locked)


def _one_game(sizes: Sizes, cells: Array, locked: Array) -> Array:
    def is_legal(candidate: Array) -> Array:
        card, target = candidate // sizes.area, candidate % sizes.area
        moved = cells.at[card].set(target)
        connected = _reachability(sizes, moved).min() > 0
        return connected & ~(cells == target).any() & ~locked[card]

    legal = jax.vmap(is_legal)(jnp.arange(sizes.cards * sizes.area)).reshape(sizes.cards, sizes.area)
    padded = jnp.pad(legal, ((0, 0), (0, sizes.words * sizes.bits_per_word - sizes.area)))
    bits = jnp.uint32(1) << jnp.arange(sizes.bits_per_word, dtype=jnp.uint32)
    words = padded.reshape(sizes.cards, sizes.words, sizes.bits_per_word)
    return jnp.where(words, bits, jnp.uint32(0)).sum(axis=-1, dtype=jnp.uint32)


def _reachability(sizes: Sizes, cells: Array) -> Array:
    rows, columns = cells // sizes.side, cells % sizes.side
    distance = jnp.abs(rows[:, None] - rows) + jnp.abs(columns[:, None] - columns)
    power = (distance <= 1).astype(jnp.float32)
    for _ in range(squarings(sizes)):
        power = power @ power
    return power
