"""What the policies of a training come to with themselves and with each other."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

FIGURES: Final = ("deliveries", "wrong", "button")
"""Of a game, beside its return."""


@dataclass(frozen=True)
class TrainedCross:
    """What the policies of one training come to.

    Attributes:
        game: a layout with its options.
        method: e.g. `sp`.
        scale: whose settings they were trained with.
        steps: environment steps of each.
        names: of the policies.
        returns: mean return of every ordered pair, itself included: [policy][policy].
        figures: means of all pairs of a policy with itself, and of all others, by figure.
    """

    game: str
    method: str
    scale: str
    steps: int
    names: tuple[str, ...]
    returns: tuple[tuple[float, ...], ...]
    figures: Mapping[str, tuple[float, float | None]]

    @property
    def sp(self) -> tuple[float, float]:
        """Return in self-play: mean and standard deviation over policies."""
        return _spread([self.returns[at][at] for at in range(len(self.names))])

    @property
    def xp(self) -> tuple[float, float] | None:
        """Return in cross-play: mean and standard deviation over pairs; None where there is one policy alone."""
        size = range(len(self.names))
        apart = [self.returns[row][column] for row, column in product(size, size) if row != column]
        return _spread(apart) if apart else None


def _spread(values: Sequence[float]) -> tuple[float, float]:
    mean = math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
