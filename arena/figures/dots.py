"""Dot plots: means with their intervals on one scale, and round ticks for any axis."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena.figures.intervals import Estimate

_STEPS: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
NORMAL: Final = 1.959964
"""What a standard error is multiplied with for half of a 95 % interval."""


@dataclass(frozen=True)
class Dot:
    """One row of a plot.

    Attributes:
        label: what was measured.
        mean: where the dot stands.
        low: lower end of its interval, None if it has none.
        high: upper end.
        kind: `ours` or `published`.
        note: a word beside the label; "" for none.
    """

    label: str
    mean: float
    low: float | None = None
    high: float | None = None
    kind: str = "ours"
    note: str = ""

    @classmethod
    def of(cls, label: str, value: Estimate, note: str = "") -> "Dot":
        """Returns the row of an estimate of ours."""
        return cls(label, value.mean, value.low, value.high, "ours", note)

    @classmethod
    def published(cls, label: str, value: tuple[float, float | None], note: str = "") -> "Dot":
        """Returns the row of a published mean with its standard error, if it has one."""
        mean, error = value
        half = None if error is None else NORMAL * error
        low, high = (None, None) if half is None else (mean - half, mean + half)
        return cls(label, mean, low, high, "published", note)


@dataclass(frozen=True)
class DotPlot:
    """Rows on one scale.

    Attributes:
        title: above them.
        dots: the rows.
        low: left end of the scale.
        high: right end.
        ticks: round values between them.
        digits: decimals of the values beside the rows.
    """

    title: str
    dots: tuple[Dot, ...]
    low: float
    high: float
    ticks: tuple[float, ...] = ()
    digits: int = 2

    @classmethod
    def of(cls, title: str, dots: Sequence[Dot], low: float, high: float, digits: int = 2) -> "DotPlot":
        """Returns a plot whose scale holds [low, high] and every mean; intervals are cut off at its ends."""
        means = [dot.mean for dot in dots]
        low, high = min([low, *means]), max([high, *means])
        marks = ticks(low, high)
        return cls(title, tuple(dots), min(low, marks[0]), max(high, marks[-1]), marks, digits)

    def at(self, value: float) -> float:
        """Returns where a value stands, in percent of the width; one beyond an end stands there."""
        return 100 * min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def span(self, dot: Dot) -> tuple[float, float] | None:
        """Returns where the interval of a row begins and how long it is, in percent; None if it has none."""
        if dot.low is None or dot.high is None:
            return None
        return self.at(dot.low), self.at(dot.high) - self.at(dot.low)


def ticks(low: float, high: float, most: int = 6) -> tuple[float, ...]:
    """Returns round values with even steps from the last one at or below `low` to the first one at or above `high`.

    Args:
        low: lower end.
        high: upper end; one that is not above `low` is taken for one above it.
        most: steps, about.
    """
    high = high if high > low else low + 1.0
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(size * power for size in _STEPS if size * power >= raw * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return tuple(round(number * step, 12) for number in range(first, last + 1))
