"""Chance as 32 random bits a draw, from which a batched game and its reference read the same outcome.

All outcomes of a draw are equally likely: each of `count` has a probability within 2^-32 of 1 / count.
"""

from collections.abc import Sequence
from typing import Final

import jax.numpy as jnp

from games.api import Json
from games.batched.api import Array
from games.posg.api import Choose

BITS: Final = 32
HALF: Final = 16


def picked(bits: Array, count: Array | int) -> Array:
    """Returns the number of the outcome that some bits draw, int32 [].

    Args:
        bits: uint32 [].
        count: of the outcomes, 1 to 65,535.
    """
    size = jnp.asarray(count).astype(jnp.uint32)
    high, low = bits >> HALF, bits & ((1 << HALF) - 1)
    return ((high * size + (low * size >> HALF)) >> HALF).astype(jnp.int32)


def picked_where(bits: Array, is_offered: Array) -> Array:
    """Returns the place of the outcome that some bits draw among those that are offered, int32 []; 0 if none is.

    Args:
        bits: uint32 [].
        is_offered: bool [C], at least one of them.
    """
    counted = jnp.cumsum(is_offered)
    return jnp.argmax(counted > picked(bits, counted[-1])).astype(jnp.int32)


def answering(labels: Sequence[str], bits: Sequence[int]) -> Choose:
    """Returns the reading of chance that a reference is given, so that it draws what a batched game draws.

    Args:
        labels: of the draws, in the order of their bits.
        bits: of each draw.
    """
    drawn = dict(zip(labels, bits, strict=True))

    def choose(label: str, outcomes: Sequence[tuple[Json, float]]) -> Json:
        return outcomes[int(drawn[label]) * len(outcomes) >> BITS][0]

    return choose
