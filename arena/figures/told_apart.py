"""Whether the leader of a tournament is told apart from the others: paired differences over common deals.

All play the same deals, so that what a deal brings falls out of the differences. A tournament looks after every block
of deals and stops at the first look at which the leader is told apart from everybody else; if it never is, the simplest
of those who may be as good is kept. Every further look is one more occasion for noise to look like strength. In 2,000
simulated tournaments of equal entrants (`tests/arena/figures/test_told_apart.py`) another than the simplest was kept so
often, each rate ± 0.01:

    entrants   at most ten looks, every 4 deals   one look, 40 deals   one look, 4 deals
    2          0.14                               0.03                 0.05
    3          0.12                               0.05                 0.11
    4          0.10                               0.06                 0.15

So one in seven at worst, for tournaments that end after four deals where strengths differ much; at a single look after
four deals it is the same. That is why what was kept is told with its strength on fresh deals.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena.figures.intervals import Estimate, mean_estimate

BLOCK: Final = 4
"""Deals between two looks."""
ERRORS_AHEAD: Final = 2.0
"""By so many standard errors of the paired difference the leader must be ahead."""


@dataclass(frozen=True)
class Look:
    """What a tournament shows so far.

    Attributes:
        leader: who has the highest mean score; of equal ones the first, that is the simplest.
        level: from whom the leader is not told apart, in order.
    """

    leader: int
    level: tuple[int, ...]

    @property
    def kept(self) -> int:
        """The first, that is the simplest, of the leader and those who may be as good."""
        return min(self.leader, *self.level) if self.level else self.leader


def look(scores: Sequence[Sequence[float]]) -> Look:
    """Returns who leads, and from whom the leader is not told apart.

    Args:
        scores: of each entrant, the simplest first, on each of the common deals, [entrants][deals].
    """
    sums = [math.fsum(own) for own in scores]
    leader = max(range(len(scores)), key=lambda index: (sums[index], -index))
    others = [index for index in range(len(scores)) if index != leader]
    return Look(leader, tuple(index for index in others if not ahead(scores[leader], scores[index])))


def ahead(own: Sequence[float], other: Sequence[float]) -> bool:
    """Whether scores are ahead of others on the same deals by `ERRORS_AHEAD` standard errors; never on a single one."""
    gained = paired_difference(own, other)
    if gained is None or gained.standard_error is None:
        return False
    return gained.mean > 0 and gained.mean >= ERRORS_AHEAD * gained.standard_error


def paired_difference(own: Sequence[float], other: Sequence[float]) -> Estimate | None:
    """Returns by how much scores are above others on the same deals, a deal as the unit; None for no deals."""
    return mean_estimate([mine - theirs for mine, theirs in zip(own, other, strict=True)])
