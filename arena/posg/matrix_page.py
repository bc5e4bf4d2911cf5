"""A matrix as a page: its tables, and returns by budget, a chart for each method."""

from typing import Final

from arena.figures import templates
from arena.figures.curve import LineChart
from arena.figures.intervals import Estimate
from arena.posg.matrix import Matrix
from arena.posg.matrix_figures import InAndOut, averages, normalised, sheets

UNITS: Final = {"simulations": "simulations a move", "seconds": "seconds a move"}


def render(matrix: Matrix) -> str:
    """Returns the page; it needs no network and no script."""
    return templates.page(
        "arena.posg",
        "matrix.html.j2",
        game=matrix.game,
        charts_of=charts(matrix),
        tables=sheets(matrix),
    )


def charts(matrix: Matrix) -> list[LineChart]:
    """Returns a chart for each planner and unit of budgets: its return in and out of distribution, as shares."""
    found = []
    rows = averages(matrix)
    for name in dict.fromkeys(row.method for row in rows):
        for unit, across in UNITS.items():
            own = [row for row in rows if row.method == name and _amount(row, unit) is not None]
            lines = {"in": _line(matrix, own, unit, "inside"), "out": _line(matrix, own, unit, "outside")}
            drawn = {which: line for which, line in lines.items() if line}
            if drawn:
                widest = max(amount for line in drawn.values() for amount, _ in line)
                found.append(LineChart.of(name, drawn, across, "return, lowest 0, highest 1", widest=widest))
    return found


def _amount(row: InAndOut, unit: str) -> float | None:
    return None if row.budget is None else getattr(row.budget, unit)


def _line(matrix: Matrix, rows: list[InAndOut], unit: str, which: str) -> list[tuple[float, Estimate]]:
    found = []
    for row in rows:
        value, amount = normalised(getattr(row, which), matrix.bounds), _amount(row, unit)
        if value is not None and amount is not None:
            found.append((float(amount), value))
    return sorted(found, key=lambda point: point[0])
