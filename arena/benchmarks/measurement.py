"""What a benchmark reports: records with one shape, a table for people, a list for programs."""

import os
import platform
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from arena.figures.sheet import Sheet


@dataclass(frozen=True)
class Measurement:
    """One figure.

    Attributes:
        name: path-like, e.g. `search/tic_tac_toe/true`.
        value: the figure, in `unit`; None where there is nothing to measure, `note` says why.
        unit: e.g. `simulations/s`, `s`, `ms`.
        baseline: what it is compared with, measured in the same run, in `unit`; None if nothing.
        ratio: value / baseline, the median over interleaved pairs where both were timed so.
        note: settings that belong to the figure.
    """

    name: str
    value: float | None
    unit: str
    baseline: float | None = None
    ratio: float | None = None
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def machine() -> str:
    """Describes what the figures were measured on: processor, cores, Python; no name of a host."""
    model = platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
        model = names[0] if names else model
    except OSError:
        model = platform.processor() or model
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def interleaved(
    name: str, unit: str, ours: Callable[[], float], theirs: Callable[[], float], pairs: int, note: str = ""
) -> Measurement:
    """Times two rates in turn, so that both meet the same moments of the machine.

    Args:
        name: of the record.
        unit: of both rates.
        ours: runs once and returns the rate.
        theirs: the same for the baseline.
        pairs: how often.
        note: settings.

    Returns:
        Medians of both, and the median of the pairs' ratios.
    """
    rates = [(ours(), theirs()) for _ in range(pairs)]
    return Measurement(
        name=name,
        value=statistics.median(own for own, _ in rates),
        unit=unit,
        baseline=statistics.median(other for _, other in rates),
        ratio=statistics.median(own / other for own, other in rates),
        note=note,
    )


def table(measurements: Sequence[Measurement]) -> Sheet:
    """Returns the table that people read."""
    made = Sheet("", ["name", "value", "unit", "baseline", "ratio", "settings"])
    for item in measurements:
        made.add(
            item.name,
            _number(item.value),
            item.unit,
            "" if item.baseline is None else _number(item.baseline),
            "" if item.ratio is None else f"{item.ratio:.2f}",
            item.note,
        )
    return made


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
