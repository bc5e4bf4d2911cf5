"""Charts for the pages that draw one: lines whose points tell their figures, with bands of their standard errors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.figures import formatting
from arena.figures.dots import ticks
from arena.figures.intervals import Estimate


@dataclass(frozen=True)
class Curve:
    """One line of a chart, as coordinates of its SVG.

    Attributes:
        name: in the legend.
        points: `x,y` pairs for a polyline.
        marks: (x, y, title) of each point.
        band: `x,y` pairs for a polygon, one standard error to either side; "" for none.
    """

    name: str
    points: str
    marks: tuple[tuple[float, float, str], ...]
    band: str = ""


@dataclass(frozen=True)
class LineChart:
    """Lines on round axes; all places are percent of the width from the left and of the height from the top.

    Attributes:
        title: what is drawn.
        across: what the axis below counts.
        up: what the axis at the left measures.
        lines: in the order of the legend.
        x_ticks: (text, place) below.
        y_ticks: (text, place) at the left.
        diagonal: whether the line from the lower left to the upper right is drawn.
    """

    title: str
    across: str
    up: str
    lines: tuple[Curve, ...]
    x_ticks: tuple[tuple[str, float], ...]
    y_ticks: tuple[tuple[str, float], ...]
    diagonal: bool = False

    @classmethod
    def of(
        cls,
        title: str,
        series: Mapping[str, Sequence[tuple[float, Estimate]]],
        across: str,
        up: str,
        *,
        widest: float = 1.0,
        highest: float = 1.0,
        diagonal: bool = False,
    ) -> "LineChart":
        """Draws lines from 0 to at least `widest` and `highest`.

        Args:
            title: what is drawn.
            series: (across, up) of each point by the line's name.
            across: what the axis below counts.
            up: what the axis at the left measures.
            widest: largest value across.
            highest: largest value up.
            diagonal: draw the line on which both are equal.
        """
        right, top = ticks(0.0, widest), ticks(0.0, highest)
        return cls(
            title,
            across,
            up,
            tuple(_curve(name, points, right[-1], top[-1]) for name, points in series.items()),
            tuple((_short(value), 100 * value / right[-1]) for value in right),
            tuple((_short(value), 100 - 100 * value / top[-1]) for value in top),
            diagonal,
        )


def _curve(name: str, points: Sequence[tuple[float, Estimate]], widest: float, highest: float) -> Curve:
    def place(across: float, up: float) -> tuple[float, float]:
        return round(100 * across / widest, 2), round(100 - 100 * min(highest, max(0.0, up)) / highest, 2)

    marks = tuple(
        (*place(across, value.mean), f"{across:,.12g}: {formatting.with_error(value)}, n = {value.n}")
        for across, value in points
    )
    errors = [(across, value.mean, value.standard_error or 0.0) for across, value in points]
    over = [place(across, mean + error) for across, mean, error in errors]
    under = [place(across, mean - error) for across, mean, error in reversed(errors)]
    band = _joined([*over, *under]) if any(error for _, _, error in errors) else ""
    return Curve(name, _joined([(x, y) for x, y, _ in marks]), marks, band)


def _joined(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in places)


def _short(value: float) -> str:
    """Returns a tick's value in few characters: 1.5M, 250k, 0.2."""
    if abs(value) >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value / 1e3:g}k" if abs(value) >= 1e4 else f"{value:g}"
