"""Charts for the pages that draw one: lines whose points tell their figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena.figures import formatting
from arena.figures.intervals import Estimate

WIDTH, HEIGHT, MARGIN = 460, 260, 40
"""Of a chart, in pixels."""
CHART: Final = {"width": WIDTH, "height": HEIGHT, "margin": MARGIN}
"""What `chart.html.j2` is given."""


@dataclass(frozen=True)
class Curve:
    """One line of a chart, as SVG coordinates.

    Attributes:
        name: in the legend.
        points: `x,y` pairs for a polyline.
        marks: (x, y, title) of each point.
    """

    name: str
    points: str
    marks: tuple[tuple[float, float, str], ...]


def curve(name: str, points: Sequence[tuple[float, Estimate]], widest: float, highest: float = 1.0) -> Curve:
    """Draws a line.

    Args:
        name: in the legend.
        points: across and up.
        widest: where the chart ends to the right.
        highest: where it ends at the top.
    """
    marks = []
    for across, value in points:
        x = MARGIN + across / widest * (WIDTH - 2 * MARGIN)
        y = HEIGHT - MARGIN - value.mean / highest * (HEIGHT - 2 * MARGIN)
        marks.append((round(x, 1), round(y, 1), f"{across:,.12g}: {formatting.with_error(value)}, n = {value.n}"))
    return Curve(name, " ".join(f"{x},{y}" for x, y, _ in marks), tuple(marks))
