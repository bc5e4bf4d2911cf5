"""Legal moves of all cards at once on bit words.

Take one card out, and the others fall into components, at most four, each with a neighbour of that card in it. An
empty cell is a legal target exactly when its neighbours touch all of these components. A set of cards is one word.

The loops stay loops on the processor: unrolled, the compiler merges a step into all its readers and computes it anew
for each of them. On an accelerator they are unrolled, because every turn of a loop launches kernels of its own.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from games.batched.api import Array, along
from games.batched.yokai.state import Sizes

DIRECTIONS = ((-1, 0), (1, 0), (0, -1), (0, 1))


def _loop(step: Callable[[Any, Any], tuple[Any, Any]], carry: Any, items: Any) -> tuple[Any, Any]:
    scan = partial(jax.lax.scan, step)
    ended: tuple[Any, Any] = jax.lax.platform_dependent(carry, items, cpu=scan, default=partial(scan, unroll=True))
    return ended


def bits(count: int, like: Array) -> Array:
    """Returns the one-bit words 1, 2, 4, …, uint32 [count], with a lane axis if the per-lane scalar `like` has one."""
    return along(np.uint32(1) << np.arange(count, dtype=np.uint32), like)


@partial(jax.jit, static_argnums=0)
def neighbours(sizes: Sizes, cells: Array) -> Array:
    """Returns the neighbour of each card in each direction as a set of at most one card, uint32 [4, Y]."""
    rows, columns = cells // sizes.side, cells % sizes.side
    cards = bits(sizes.cards, cells[0])

    def look(_: None, direction: Array) -> tuple[None, Array]:
        near = (rows[None] - rows[:, None] == direction[0]) & (columns[None] - columns[:, None] == direction[1])
        return None, jnp.where(near, cards, jnp.uint32(0)).sum(axis=1, dtype=jnp.uint32)

    found: Array = _loop(look, None, jnp.array(DIRECTIONS))[1]
    return found


def either(words: Array) -> Array:
    """Returns the union of the first axis' sets."""
    joined: Array = jnp.bitwise_or.reduce(words, axis=0)
    return joined


def cell_words(sizes: Sizes, cells: Array) -> Array:
    """Returns sets of one cell each as words of the grid.

    Args:
        sizes: of the configuration.
        cells: int32 [X]; -1 for the empty set.

    Returns:
        uint32 [X, W].
    """
    words, place = cells // sizes.bits_per_word, (cells % sizes.bits_per_word).astype(jnp.uint32)
    index = along(np.arange(sizes.words), cells[0])
    return jnp.where(words[:, None] == index, (jnp.uint32(1) << place)[:, None], jnp.uint32(0))


def border_words(sizes: Sizes, cells: Array) -> Array:
    """Returns the cells beside each card, uint32 [Y, W]."""
    side = sizes.side
    rows, columns = cells // side, cells % side
    border = jnp.zeros((), jnp.uint32)
    for d_row, d_column in DIRECTIONS:
        row, column = rows + d_row, columns + d_column
        inside = (row >= 0) & (row < side) & (column >= 0) & (column < side)
        border = border | cell_words(sizes, jnp.where(inside, row * side + column, -1))
    return border


def components(sizes: Sizes, touching: Array) -> Array:
    """Returns the component of card j without card i, uint32 [Y (i), Y (j)]: Warshall's closure for all i at once.

    Args:
        sizes: of the configuration.
        touching: uint32 [Y], the set of neighbours of each card.
    """
    own = bits(sizes.cards, touching[0])
    reached = (touching | own)[None, :] & ~own[:, None]

    def widen(reached: Array, middle: Array) -> tuple[Array, None]:
        through = (reached >> middle.astype(jnp.uint32)) & jnp.uint32(1)
        return reached | (through * jax.lax.dynamic_index_in_dim(reached, middle, 1)), None

    closed: Array = _loop(widen, reached, jnp.arange(sizes.cards))[0]
    return closed


@partial(jax.jit, static_argnums=0)
def legal_moves(sizes: Sizes, cells: Array, locked: Array) -> Array:
    """Returns the legal targets of every card, uint32 [Y, W].

    Args:
        sizes: of the configuration.
        cells: int32 [Y].
        locked: bool [Y]; a locked card has no target.
    """
    directions = neighbours(sizes, cells)
    without = components(sizes, either(directions))
    beside = border_words(sizes, cells)
    occupied = cell_words(sizes, cells).sum(axis=0, dtype=jnp.uint32)
    free = jnp.where(locked[:, None], jnp.uint32(0), ~occupied)
    numbers = along(np.arange(sizes.cards, dtype=np.uint32), cells[0])

    def component_towards(_: None, neighbour: Array) -> tuple[None, Array]:
        there = ((neighbour[:, None] >> numbers) & 1) == 1
        return None, jnp.where(there, without, jnp.uint32(0)).sum(axis=1, dtype=jnp.uint32)

    def keep_touching(targets: Array, component: Array) -> tuple[Array, None]:
        reach = jnp.zeros_like(targets)
        for card in range(sizes.cards):
            member = (component >> jnp.uint32(card)) & jnp.uint32(1)
            reach = reach | (member[:, None] * beside[card])
        return targets & jnp.where((component == 0)[:, None], ~jnp.uint32(0), reach), None

    parts = _loop(component_towards, None, directions)[1]
    targets: Array = _loop(keep_touching, jnp.broadcast_to(free, beside.shape), parts)[0]
    return targets
