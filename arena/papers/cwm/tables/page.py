"""The rebuilt tables and figures as a section of a page, and as a page of its own that needs no network."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from arena.figures import templates
from arena.papers.cwm.published.numbers import SOURCE
from arena.papers.cwm.tables import drawing
from arena.papers.cwm.tables.cells import PaperTable
from arena.papers.cwm.tables.writing import READING
from cwm.storage.files import write_whole


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
        groups=_groups,
        panels=_panels,
        bars=_bars,
        chart=drawing,
        reading=READING,
        source=SOURCE,
    )


def _groups(sheet: PaperTable) -> list[tuple[str, int]]:
    return [(name, len(list(members))) for name, members in groupby(column.group for column in sheet.columns)]


def _panels(sheet: PaperTable) -> list[drawing.Panel]:
    return drawing.panels(sheet) if sheet.label_names[-1] == "calls" else []


def _bars(sheet: PaperTable) -> list[drawing.Bar]:
    return drawing.bars(sheet) if sheet.label_names[-1] == "against" else []
