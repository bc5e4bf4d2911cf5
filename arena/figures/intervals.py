"""Means and rates with 95 % intervals. Nothing is ever averaged over an empty list: the answer is then None."""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

CONFIDENCE = 0.95
_Z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
_EXACT_UP_TO = 200
"""Degrees of freedom up to which Student's t is inverted exactly; above, an expansion agrees to 1e-7."""


@dataclass(frozen=True)
class Estimate:
    """A mean or a rate, and how sure it is.

    Attributes:
        mean: the point estimate.
        standard_error: of the mean, None for a single unit.
        low: lower end of the 95 % interval, None where it cannot be had.
        high: upper end.
        n: independent units that it rests on (deals, or games).
    """

    mean: float
    standard_error: float | None
    low: float | None
    high: float | None
    n: int


def t_quantile(degrees: int) -> float:
    """Returns the two-sided 95 % quantile of Student's t.

    Raises:
        ValueError: there are no degrees of freedom.
    """
    if degrees < 1:
        raise ValueError(f"Student's t needs at least one degree of freedom, not {degrees}.")
    if degrees > _EXACT_UP_TO:
        return _Z + (_Z**3 + _Z) / (4 * degrees) + (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / (96 * degrees**2)
    low, high = 0.0, 20.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _t_inside(middle, degrees) < CONFIDENCE else (low, middle)
    return (low + high) / 2


def _t_inside(t: float, degrees: int) -> float:
    """Returns P(|T| < t), a finite sum for whole degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(degrees))
    cosine = math.cos(angle)
    odd = degrees % 2
    term = cosine if odd else 1.0
    total = 0.0
    for k in range((degrees - odd) // 2):
        if k:
            term *= cosine**2 * ((2 * k) / (2 * k + 1) if odd else (2 * k - 1) / (2 * k))
        total += term
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if odd else total


def mean_estimate(values: Sequence[float]) -> Estimate | None:
    """Returns the mean of independent values with Student's t interval, None for no values."""
    n = len(values)
    if n == 0:
        return None
    mean = math.fsum(values) / n
    if n == 1:
        return Estimate(mean, None, None, None, 1)
    error = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1) / n)
    half = t_quantile(n - 1) * error
    return Estimate(mean, error, mean - half, mean + half, n)


def rate_estimate(values: Sequence[float]) -> Estimate | None:
    """Returns the mean of independent values in [0, 1] with Wilson's interval, None for no values.

    A value may be a share (of the games on one deal): each counts as one unit.
    """
    plain = mean_estimate(values)
    if plain is None:
        return None
    low, high = wilson(math.fsum(values), plain.n)
    return Estimate(plain.mean, plain.standard_error, low, high, plain.n)


def ratio_estimate(pairs: Sequence[tuple[float, float]]) -> Estimate | None:
    """Returns sum(part) / sum(whole) over independent units of (part, whole) counts, None if the wholes are all 0.

    The standard error is the linearised one of a ratio. The interval is Wilson's. Where each unit is one trial at most
    it counts trials; where trials share units, as the games of one deal do, it counts as many as would be as sure as
    the units are (see `clustered_rate`), and never more than there are units with a trial.
    """
    whole = math.fsum(pair[1] for pair in pairs)
    if whole == 0:
        return None
    part = math.fsum(pair[0] for pair in pairs)
    # Sums of means over games may miss 1 by a rounding.
    ratio = min(1.0, part / whole)
    n = len(pairs)
    error = None
    if n > 1:
        error = math.sqrt(n / (n - 1) * math.fsum((a - ratio * b) ** 2 for a, b in pairs)) / whole
    units = sum(pair[1] > 0 for pair in pairs)
    sure: float = units
    if error and not all(pair[0] in (0, 1) and pair[1] in (0, 1) for pair in pairs):
        sure = min(sure, _as_sure(ratio, error, t_quantile(n - 1)))
    low, high = wilson(ratio * sure, sure)
    return Estimate(ratio, error, low, high, units)


def jackknife_estimate(
    statistic: Callable[[Hashable | None], float | None], groups: Sequence[Sequence[Hashable]]
) -> Estimate | None:
    """Returns a figure whose standard error comes from leaving out one unit at a time.

    For a plain mean of units that is the usual standard error. Where a value belongs to several units, as that of a
    pair of agents does to both, the spread of the units' own means would give an error too small by up to a factor of
    two; this one is not.

    Args:
        statistic: the figure without one unit, or with all of them (None); None where nothing is left to measure.
        groups: units, of one population each; every group keeps at least one unit.
    """
    whole = statistic(None)
    if whole is None:
        return None
    variance, degrees = 0.0, 0
    units = sum(map(len, groups))
    for group in groups:
        without = [value for value in map(statistic, group) if value is not None]
        n = len(group)
        if n < 2 or len(without) < n:
            return Estimate(whole, None, None, None, units)
        centre = math.fsum(without) / n
        variance += (n - 1) / n * math.fsum((value - centre) ** 2 for value in without)
        degrees += n - 1
    error = math.sqrt(variance)
    half = t_quantile(degrees) * error
    return Estimate(whole, error, whole - half, whole + half, units)


def crossed_estimate(estimates: Sequence[Estimate | None]) -> Estimate | None:
    """Returns one mean whose error counts several sources of chance at once, as agents and deals where all meet on all.

    Squared errors add up; what agents and deals do together is in each of them, so the error is rather too large than
    too small. The interval is Student's with the degrees of freedom of Satterthwaite (1946), rounded down.

    Args:
        estimates: the same mean, each with another source as the unit; `n` is that of the first.

    Returns:
        None where one of them is missing or has no error.
    """
    known = [item for item in estimates if item is not None and item.standard_error is not None]
    if not known or len(known) < len(estimates):
        return None
    variances = [(item.standard_error or 0.0) ** 2 for item in known]
    error, mean = math.sqrt(math.fsum(variances)), known[0].mean
    inverse = math.fsum(own**2 / (item.n - 1) for own, item in zip(variances, known, strict=True))
    half = t_quantile(max(1, int(error**4 / inverse + 1e-9))) * error if inverse else 0.0
    return Estimate(mean, error, mean - half, mean + half, known[0].n)


def clustered_mean(groups: Sequence[Sequence[float]]) -> Estimate | None:
    """Returns the mean of values of which those of one group may be alike, as the matches of one synthesis are.

    The interval is the wider of two: Student's of independent values, and Student's between groups (the linearised
    error of a ratio of sums, with a degree of freedom a group but one). None for no values.
    """
    plain = mean_estimate([value for group in groups for value in group])
    between = _between_groups(groups)
    if plain is None or plain.standard_error is None or between is None:
        return plain
    half = max(t_quantile(plain.n - 1) * plain.standard_error, between[0] * between[1])
    error = max(plain.standard_error, between[0])
    return Estimate(plain.mean, error, plain.mean - half, plain.mean + half, plain.n)


def clustered_rate(groups: Sequence[Sequence[float]]) -> Estimate | None:
    """Returns the mean of values in [0, 1] of which those of one group may be alike, None for no values.

    Wilson's interval, for as many independent values as would be as sure as these groups are (the effective sample
    size of Korn and Graubard 1998), and never for more than there are.
    """
    plain = rate_estimate([value for group in groups for value in group])
    between = _between_groups(groups)
    if plain is None or between is None:
        return plain
    n: float = plain.n
    if between[0] > 0:
        n = min(n, _as_sure(plain.mean, *between))
    low, high = wilson(plain.mean * n, n)
    error = max(plain.standard_error or 0.0, between[0])
    return Estimate(plain.mean, error, low, high, plain.n)


def _as_sure(rate: float, error: float, quantile: float) -> float:
    """Returns how many independent trials give a rate this error and quantile, one at least."""
    return max(1.0, rate * (1 - rate) / error**2 * (_Z / quantile) ** 2)


def _between_groups(groups: Sequence[Sequence[float]]) -> tuple[float, float] | None:
    """Returns the error of the mean of all values between groups and its quantile, None for fewer than two groups."""
    filled = [group for group in groups if group]
    count = len(filled)
    if count < 2:
        return None
    values = sum(len(group) for group in filled)
    mean = math.fsum(math.fsum(group) for group in filled) / values
    squares = math.fsum((math.fsum(group) - mean * len(group)) ** 2 for group in filled)
    return math.sqrt(count / (count - 1) * squares) / values, t_quantile(count - 1)


def wilson(successes: float, n: float) -> tuple[float, float]:
    """Returns Wilson's score interval of a rate; either count may be a fraction.

    Raises:
        ValueError: there are no trials, or more successes than trials.
    """
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"A rate needs 0 <= successes <= n and n >= 1, not {successes} of {n}.")
    rate = successes / n
    centre = (rate + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * math.sqrt(rate * (1 - rate) / n + _Z**2 / (4 * n**2))
    return max(0.0, centre - half), min(1.0, centre + half)
