"""Figures 11, 17 and 22 drawn: Combined's returns by simulations, the paper's and ours, on a page with the tables."""

from collections.abc import Sequence
from typing import Final

from arena.figures import templates
from arena.figures.curve import LineChart
from arena.figures.intervals import Estimate
from arena.figures.sheet import Sheet
from arena.papers.posggym.published.cells import ENVIRONMENTS, RETURNS, TITLE, ExperimentEnvironment
from arena.papers.posggym.tables import beside
from arena.posg.matrix import Matrix
from arena.posg.matrix_figures import averages, normalised

DRAWN: Final = "Combined"
"""The one planner whose raw results are public in every environment."""


def page(found: Sequence[Matrix], tables: Sequence[Sheet]) -> str:
    """Returns the page; it needs no network and no script."""
    drawn = [chart(environment, found) for environment in ENVIRONMENTS]
    return templates.page("arena.papers.posggym.tables", "posggym.html.j2", title=TITLE, tables=tables, charts_of=drawn)


def chart(environment: ExperimentEnvironment, found: Sequence[Matrix]) -> LineChart:
    """Returns Combined's normalised returns by simulations a move, in and out of distribution."""
    low, high = environment.bounds
    lines: dict[str, list[tuple[float, Estimate]]] = {"paper, in": [], "paper, out": []}
    for row in RETURNS:
        if (row.environment, row.method) == (environment.name, DRAWN) and row.simulations:
            for name, value in (("paper, in", row.inside), ("paper, out", row.outside)):
                told = Estimate((value - low) / (high - low), None, None, None, 1)
                lines[name].append((float(row.simulations), told))
    for matrix in beside.matrices_of(environment, found):
        for own in averages(matrix):
            if own.method == DRAWN and own.budget is not None and own.budget.simulations:
                for name, mean in (("ours, in", own.inside), ("ours, out", own.outside)):
                    share = normalised(mean, environment.bounds)
                    if share is not None:
                        lines.setdefault(name, []).append((float(own.budget.simulations), share))
    ordered = {name: sorted(line, key=lambda point: point[0]) for name, line in lines.items()}
    widest = max(across for line in ordered.values() for across, _ in line)
    title = f"{DRAWN} in {environment.name}"
    return LineChart.of(title, ordered, "simulations a move", "return, lowest 0, highest 1", widest=widest)
