"""The report as one HTML page that needs nothing else: no network, no script."""

from pathlib import Path

from arena.figures import templates
from arena.figures.intervals import Estimate
from arena.matches.ratings import Standings
from arena.papers.yokai.published import figures
from arena.papers.yokai.published.results import SHOWN_SOURCE
from arena.report.data import ReportData
from arena.report.tree_layout import layout
from cwm.storage.files import write_whole


def render(data: ReportData) -> str:
    """Returns the page. Every value is escaped: a model's answer may hold markup, and must stay text."""
    return templates.page(
        "arena.report",
        "report.html.j2",
        data=data,
        tree=layout(data.candidates),
        paper=figures.rows(data.game),
        paper_source=SHOWN_SOURCE,
        heat=heat,
        cooperative=cooperative,
    )


def write(data: ReportData, path: Path) -> None:
    """Writes the page; an old one is replaced whole or not at all.

    Raises:
        OSError: the place cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, render(data))


def heat(table: Standings, cell: Estimate | None) -> float:
    """Returns where a cell of the pairing matrix lies between the table's lowest and highest, in [0, 1]."""
    values = [other.mean for row in table.matrix for other in row if other is not None]
    if cell is None or not values or max(values) == min(values):
        return 0.0
    return (cell.mean - min(values)) / (max(values) - min(values))


def cooperative(table: Standings) -> bool:
    """Tells whether the table holds cooperative figures."""
    return any(result.cooperation is not None for result in table.lineups)
