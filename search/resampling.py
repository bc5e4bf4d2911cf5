"""Systematic resampling, and how many draws weighted ones are worth."""

import math
import random
from collections.abc import Sequence


def systematic(shares: Sequence[float], count: int, rng: random.Random) -> list[int]:
    """Shares `count` draws out by weight: each gets `count * share`, rounded up or down.

    Args:
        shares: weights that sum to 1.
        count: how many draws.
        rng: one number decides which are rounded up.

    Returns:
        How often each is drawn; the sum is `count`.
    """
    drawn = [0] * len(shares)
    point = rng.random()
    reached, taken = 0.0, 0
    for index, share in enumerate(shares):
        reached += share * count
        while taken < count and point + taken < reached:
            taken += 1
            drawn[index] += 1
    if taken < count:
        # The shares may sum to a hair less than 1.
        drawn[max(range(len(shares)), key=shares.__getitem__)] += count - taken
    return drawn


def effective_size(shares: Sequence[float], copies: Sequence[int]) -> float:
    """Returns the effective sample size: (sum of weights)² / sum of squared weights, over single draws.

    Args:
        shares: weight of each draw with all its copies, summing to 1; none: 0.
        copies: how often each was drawn.
    """
    squares = math.fsum(share * share / count for share, count in zip(shares, copies, strict=True))
    return 1.0 / squares if squares > 0.0 else 0.0
