"""The rebuilt tables and figures as a section of a page, and as a page of its own that needs no network."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

from arena.figures import templates
from arena.figures.intervals import wilson
from arena.papers.cwm.published.numbers import MATCHES, SOURCE
from arena.papers.cwm.tables import drawing
from arena.papers.cwm.tables.cells import Cell, PaperTable, Row
from arena.papers.cwm.tables.writing import READING
from cwm.storage.files import write_whole

AGREES, BETTER, WORSE, OTHER = "agrees", "better", "worse", "differs"
ALONE, NOT_RUN = "no number to compare", "not run"
VERDICTS: Final = (AGREES, BETTER, WORSE, OTHER, ALONE, NOT_RUN)
_MORE_IS_BETTER: Final = frozenset({"win", "us", "train", "test", "online"})
_LESS_IS_BETTER: Final = frozenset({"loss", "them", "calls"})
_COUNTS: Final = frozenset({"win_forfeits", "loss_forfeits", "draws"})
"""Counts out of unlike numbers of matches."""
_SHARES: Final = frozenset({"win", "loss", "draw"})


@dataclass(frozen=True)
class Score:
    """How the cells of one table compare with the paper's.

    Attributes:
        sheet: the table.
        counts: cells by verdict, see `verdict`.
    """

    sheet: PaperTable
    counts: Counter[str]

    @property
    def ran(self) -> bool:
        """Whether there is any figure of ours."""
        return any(self.counts[name] for name in VERDICTS if name != NOT_RUN)


def verdict(cell: Cell) -> str:
    """Returns how a cell compares with the paper's.

    It agrees if the paper's number lies in our 95 % interval, ours in that of the paper (of a share of 100 matches), or
    both are equal as printed. Otherwise it is better or worse, or differs where neither end is the good one.
    """
    ours, paper = cell.measured, cell.published
    if ours.state != "measured":
        return NOT_RUN
    name = cell.column.key.rpartition(".")[2]
    if paper is None or paper.value is None or ours.value is None or name in _COUNTS:
        return ALONE
    inside = ours.low is not None and ours.high is not None and ours.low <= paper.value <= ours.high
    if name in _SHARES and 0 <= paper.value <= 1:
        low, high = wilson(paper.value * MATCHES, MATCHES)
        inside = inside or low <= ours.value <= high
    if inside or round(ours.value, cell.column.digits) == round(paper.value, cell.column.digits):
        return AGREES
    if name in _MORE_IS_BETTER or name in _LESS_IS_BETTER:
        return BETTER if (ours.value > paper.value) == (name in _MORE_IS_BETTER) else WORSE
    return OTHER


def scoreboard(sheets: Sequence[PaperTable]) -> list[Score]:
    """Returns how each table compares with the paper's; figures hold the numbers of tables and are left out."""
    return [
        Score(sheet, Counter(verdict(cell) for row in sheet.rows for cell in row.cells))
        for sheet in sheets
        if sheet.name.startswith("table")
    ]


def ran_rows(sheet: PaperTable) -> list[Row]:
    """Returns the rows that have any figure of ours."""
    return [row for row in sheet.rows if any(cell.measured.state == "measured" for cell in row.cells)]


def section(sheets: Sequence[PaperTable]) -> str:
    """Returns the section: every table and figure, ours above the paper's in each cell."""
    return _rendered("section.html.j2", sheets)


def render(sheets: Sequence[PaperTable]) -> str:
    """Returns the page around the section."""
    return _rendered("page.html.j2", sheets)


def write(path: Path, sheets: Sequence[PaperTable]) -> None:
    """Writes the page; an old one is replaced whole or not at all.

    Raises:
        OSError: the place cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, render(sheets))


def _rendered(template: str, sheets: Sequence[PaperTable]) -> str:
    return templates.page(
        "arena.papers.cwm.tables",
        template,
        sheets=sheets,
        scores=scoreboard(sheets),
        verdicts=VERDICTS,
        verdict=verdict,
        ran_rows=ran_rows,
        command=_command,
        groups=_groups,
        panels=_panels,
        bars=_bars,
        chart=drawing,
        reading=READING,
        source=SOURCE,
    )


def _command(sheet: PaperTable) -> str:
    """Returns what runs a table or a figure."""
    kind, _, number = sheet.name.partition("-")
    return f"cwm paper --{kind}s {number}"


def _groups(sheet: PaperTable) -> list[tuple[str, int]]:
    return [(name, len(list(members))) for name, members in groupby(column.group for column in sheet.columns)]


def _panels(sheet: PaperTable) -> list[drawing.Panel]:
    return drawing.panels(sheet) if sheet.label_names[-1] == "calls" else []


def _bars(sheet: PaperTable) -> list[drawing.Bar]:
    return drawing.bars(sheet) if sheet.label_names[-1] == "against" else []
