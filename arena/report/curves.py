"""R against environment steps as one HTML page: a chart and a table of every method."""

import math

from arena.figures import formatting, templates
from arena.figures.curve import LineChart
from arena.figures.intervals import Estimate
from arena.figures.metrics import Cooperation
from arena.figures.sheet import Sheet
from arena.policy_play.curve_figures import CurvePoint, LearningCurves


def render(found: LearningCurves) -> str:
    """Returns the page; it needs no network and no script."""
    points = [point for every in found.methods.values() for point in every]
    widest = max(point.steps for point in points)
    scores = [side.score.mean for point in points for side in _sides(point).values()]
    highest = float(max(1, math.ceil(max(scores))))
    return templates.page(
        "arena.report",
        "curves.html.j2",
        found=found,
        charts_of=[_chart(method, every, float(widest), highest) for method, every in found.methods.items()],
        tables=[_sheet(method, every) for method, every in found.methods.items()],
        widest=widest,
    )


def _sheet(method: str, points: tuple[CurvePoint, ...]) -> Sheet:
    sheet = Sheet(method, (), ["steps", "seeds", "R, self-play", "R, cross-play", "gap"])
    for point in points:
        figures = point.figures
        scores = (None if side is None else side.score for side in (figures.self_play, figures.cross_play))
        counts = formatting.whole(point.steps), len(figures.policies)
        sheet.add(*counts, *map(formatting.with_error, (*scores, figures.gap)))
    return sheet


def _chart(method: str, points: tuple[CurvePoint, ...], widest: float, highest: float) -> LineChart:
    lines: dict[str, list[tuple[float, Estimate]]] = {}
    for point in points:
        for name, side in _sides(point).items():
            lines.setdefault(name, []).append((float(point.steps), side.score))
    return LineChart.of(method, lines, "environment steps", "R", widest=widest, highest=highest)


def _sides(point: CurvePoint) -> dict[str, Cooperation]:
    """Returns the figures of self-play and cross-play, where there are any."""
    sides = {"self-play": point.figures.self_play, "cross-play": point.figures.cross_play}
    return {name: side for name, side in sides.items() if side is not None}
