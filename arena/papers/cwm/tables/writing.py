"""Rebuilt tables as files and on the terminal: CSV, LaTeX, JSON, and text; in each cell ours above the paper's."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from arena.figures.sheet import Sheet
from arena.papers.cwm.published.layout import Column
from arena.papers.cwm.tables.cells import Cell, PaperTable
from cwm.storage.files import write_whole

CSV_COLUMNS: Final = (
    "sheet",
    "row",
    "column",
    "state",
    "value",
    "words",
    "low",
    "high",
    "n",
    "unit",
    "sources",
    "paper_state",
    "paper",
    "paper_words",
    "paper_copy",
)


def terminal_table(sheet: PaperTable) -> Sheet:
    """Returns a table for the terminal; the paper's figure stands in brackets under ours.

    One with many columns for each opponent has a row for each opponent instead.
    """
    groups = list(dict.fromkeys(column.group for column in sheet.columns))
    tall = len(sheet.columns) > WIDEST and all(groups)
    if tall:
        names = list(dict.fromkeys(column.name for column in sheet.columns))
        heading = "" if "against" in sheet.label_names else "against"
        made = Sheet(sheet.title, [*sheet.label_names, heading], names)
    else:
        made = Sheet(sheet.title, sheet.label_names, [_stacked(column) for column in sheet.columns])
    for row in sheet.rows:
        if not tall:
            made.add(*row.labels, *map(_two_lines, row.cells))
        for group in groups if tall else ():
            cells = {cell.column.name: _two_lines(cell) for cell in row.cells if cell.column.group == group}
            made.add(*row.labels, group, *(cells.get(name, "") for name in names))
    made.section = len(groups) if tall else 1
    made.note = "\n".join([READING, *sheet.notes])
    return made


WIDEST: Final = 4
"""Columns of matches that stand side by side."""
READING: Final = (
    "Ours with its 95 % interval (of several syntheses, the wider of that between matches and that between syntheses); "
    "in brackets the paper's."
)


def _stacked(column: Column) -> str:
    return f"{column.group}\n{column.name}" if column.group else column.name


def _two_lines(cell: Cell) -> str:
    ours = cell.measured.shown(cell.column.digits)
    return ours if cell.published is None else f"{ours}\n({cell.published.shown})"


def csv_text(sheet: PaperTable) -> str:
    """Returns a sheet as CSV, one line a cell."""
    made = Sheet("", CSV_COLUMNS)
    for row in sheet.rows:
        for cell in row.cells:
            ours, paper = cell.measured, cell.published
            theirs = ("", None, "", "") if paper is None else (paper.state, paper.value, paper.words, paper.copy)
            numbers = (ours.value, ours.words, ours.low, ours.high, ours.n, ours.unit)
            place = (sheet.name, " / ".join(row.labels), cell.column.key)
            made.add(*place, ours.state, *numbers, "; ".join(ours.sources), *theirs)
    return made.csv()


def latex(sheet: PaperTable) -> str:
    """Returns a table in LaTeX; ours, and in brackets the paper's, in each cell."""
    rows = [(*row.labels, *map(_two_lines, row.cells)) for row in sheet.rows]
    names = [column.name for column in sheet.columns]
    made = Sheet(sheet.title, sheet.label_names, names, rows, " ".join([READING, *sheet.notes]))
    return made.latex(sheet.name, [column.group for column in sheet.columns])


def plain(sheet: PaperTable) -> str:
    """Returns a sheet as lines of text, one a cell: for readers of files and for diffs."""
    lines = [sheet.title, "=" * len(sheet.title)]
    for row in sheet.rows:
        lines += ["", ", ".join(row.labels)]
        width = max(len(cell.column.heading) for cell in row.cells)
        lines += [
            f"  {cell.column.heading:<{width}}  {_two_lines(cell).replace(chr(10), '  ')}".rstrip()
            for cell in row.cells
        ]
    return "\n".join([*lines, "", READING, *sheet.notes, ""])


def write(folder: Path, sheets: Sequence[PaperTable]) -> None:
    """Writes every sheet as text, CSV and LaTeX, and all of them as one JSON document.

    Raises:
        OSError: a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for sheet in sheets:
        write_whole(folder / f"{sheet.name}.txt", plain(sheet))
        write_whole(folder / f"{sheet.name}.csv", csv_text(sheet))
        write_whole(folder / f"{sheet.name}.tex", latex(sheet))
    document = [sheet.to_json() for sheet in sheets]
    write_whole(folder / "tables.json", json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
