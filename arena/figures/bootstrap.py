"""Interquartile means and ratios of differences, with bootstrap intervals.

The interquartile mean of results of several lineups, with its interval from resampling within each of them, is that of
Agarwal et al. 2021 (rliable).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from arena.figures import formatting
from arena.figures.intervals import CONFIDENCE

DRAWS: Final = 2000
QUARTER: Final = 0.25
_ENDS: Final = (50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE))


@dataclass(frozen=True)
class Bootstrapped:
    """A figure with the percentile interval of its resamples.

    Attributes:
        value: of all units.
        low: lower end of the 95 % interval, None where it cannot be had.
        high: upper end.
        n: units.
    """

    value: float
    low: float | None
    high: float | None
    n: int


def interquartile_mean(values: Any) -> Any:
    """Returns the mean without the lowest and the highest quarter (rounded down), float64 [..., n] -> [...]."""
    ordered = np.sort(np.asarray(values, np.float64), axis=-1)
    cut = int(QUARTER * ordered.shape[-1])
    return ordered[..., cut : ordered.shape[-1] - cut].mean(axis=-1)


def interquartile(strata: Sequence[Sequence[float]], seed: int = 0) -> Bootstrapped | None:
    """Returns the interquartile mean of all values; resamples keep the number of each stratum's values.

    Args:
        strata: independent values, such as a lineup's by deal; empty ones are left out.
        seed: of the resamples.

    Returns:
        None for no values; without an interval where a stratum has one value alone, whose spread nobody knows.
    """
    filled = [np.asarray(stratum, np.float64) for stratum in strata if len(stratum)]
    if not filled:
        return None
    every = np.concatenate(filled)
    if min(map(len, filled)) == 1:
        return Bootstrapped(float(interquartile_mean(every)), None, None, len(every))
    rng = np.random.default_rng(seed)
    drawn = [stratum[rng.integers(len(stratum), size=(DRAWS, len(stratum)))] for stratum in filled]
    low, high = np.percentile(interquartile_mean(np.concatenate(drawn, axis=-1)), _ENDS)
    return Bootstrapped(float(interquartile_mean(every)), float(low), float(high), len(every))


def interpolation(
    mixed: Mapping[int, float], weak: Mapping[int, float], strong: Mapping[int, float], seed: int = 0
) -> Bootstrapped | None:
    """Returns (mixed − weak) / (strong − weak) over the units that all three have; units are resampled together.

    Args:
        mixed: values by unit, such as a deal.
        weak: the same of those that 0 stands for.
        strong: the same of those that 1 stands for.
        seed: of the resamples.

    Returns:
        None where there is no common unit or weak and strong are equal; without an interval where a fortieth of the
        resamples or more has them equal or the other way round, since a share of such a difference means nothing.
    """
    units = sorted(mixed.keys() & weak.keys() & strong.keys())
    values = np.array([[of[unit] for unit in units] for of in (mixed, weak, strong)], np.float64)
    if not units:
        return None
    whole = values.mean(axis=-1)
    apart = whole[2] - whole[1]
    if apart == 0:
        return None
    share = float((whole[0] - whole[1]) / apart)
    rng = np.random.default_rng(seed)
    means = values[:, rng.integers(len(units), size=(DRAWS, len(units)))].mean(axis=-1)
    gaps = means[2] - means[1]
    turned = gaps * np.sign(apart) <= 0
    if len(units) == 1 or turned.mean() >= (1 - CONFIDENCE) / 2:
        return Bootstrapped(share, None, None, len(units))
    low, high = np.percentile((means[0] - means[1])[~turned] / gaps[~turned], _ENDS)
    return Bootstrapped(share, float(low), float(high), len(units))


def text(value: Bootstrapped | None, digits: int = 2) -> str:
    """Returns `value [low, high]`, the value alone where there is no interval, a dash for None."""
    if value is None:
        return formatting.NONE
    if value.low is None or value.high is None:
        return f"{value.value:.{digits}f}"
    return f"{value.value:.{digits}f} [{value.low:.{digits}f}, {value.high:.{digits}f}]"
