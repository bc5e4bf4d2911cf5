"""Numbers as text, the same in the terminal and on the page."""

import math
from collections.abc import Iterable

from arena.figures.intervals import Estimate

NONE = "–"
INTERVAL = "mean ± half of its 95 % interval, or [its ends]"
"""What `interval` writes, for headings."""


def estimate(value: Estimate | None, digits: int = 2) -> str:
    """Returns `mean [low, high]`, the mean alone where there is no interval, a dash for None."""
    if value is None:
        return NONE
    if value.low is None or value.high is None:
        return f"{value.mean:.{digits}f}"
    return f"{value.mean:.{digits}f} [{value.low:.{digits}f}, {value.high:.{digits}f}]"


def interval(value: Estimate | None, digits: int = 2) -> str:
    """Returns `mean ± half` of an interval that reaches as far on either side, else `mean [low, high]`.

    None is a dash; the mean alone is shown where there is no interval.
    """
    if value is None or value.low is None or value.high is None:
        return estimate(value, digits)
    if math.isclose(value.high - value.mean, value.mean - value.low, rel_tol=1e-9, abs_tol=1e-9):
        return f"{value.mean:.{digits}f} ± {(value.high - value.low) / 2:.{digits}f}"
    return estimate(value, digits)


def with_error(value: Estimate | None, digits: int = 2) -> str:
    """Returns `mean ± standard error`."""
    if value is None:
        return NONE
    return pair((value.mean, value.standard_error), digits)


def units(cells: Iterable[Iterable[Estimate | None]], name: str) -> str:
    """Returns how many units the estimates of a matrix rest on, e.g. `20 deals` or `5 to 20 deals`."""
    counts = sorted({value.n for row in cells for value in row if value is not None}) or [0]
    return f"{whole(counts[0])} {name}" if len(counts) == 1 else f"{whole(counts[0])} to {whole(counts[-1])} {name}"


def pair(value: tuple[float, float | None] | None, digits: int = 1) -> str:
    """Returns (mean, standard error) as text, a dash for None."""
    if value is None:
        return NONE
    mean, error = value
    return f"{mean:.{digits}f}" if error is None else f"{mean:.{digits}f} ± {error:.{digits}f}"


def share(value: float | None, digits: int = 2) -> str:
    """Returns a share as a decimal number, a dash for None."""
    return NONE if value is None else f"{value:.{digits}f}"


def accuracy(value: float | None) -> str:
    """Returns a share that never rounds up to 1: only a perfect one is shown as 1."""
    if value is None:
        return NONE
    return "1.0000" if value == 1 else f"{min(value, 0.9999):.4f}"


def whole(value: int) -> str:
    """Returns a count with thousands set apart."""
    return f"{value:,}"


def money(value: float | None) -> str:
    """Returns US dollars, a dash for None."""
    return NONE if value is None else f"${value:.4f}" if value < 1 else f"${value:,.2f}"


def seconds(value: float | None) -> str:
    """Returns a duration, in milliseconds below a tenth of a second."""
    if value is None:
        return NONE
    return f"{value * 1000:.1f} ms" if value < 0.1 else f"{value:.2f} s"


def steps_a_second(value: float) -> str:
    """Returns a rate with its unit, two digits where it is below ten: a slow one is not 0, which is not timed yet."""
    if not value:
        return "not timed yet"
    return f"{value:,.0f} steps/s" if value >= 10 else f"{value:.2g} steps/s"


def counts(values: dict[str, int]) -> str:
    """Returns `name 3, other 1`, `none` for nothing."""
    return ", ".join(f"{name} {count}" for name, count in values.items()) or "none"
