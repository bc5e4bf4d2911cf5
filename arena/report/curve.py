"""A line of a chart, for the pages that draw one."""

from dataclasses import dataclass


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
