"""Rebuilt tables as files and on the terminal: CSV, LaTeX, JSON, and text; in each cell ours above the paper's."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from rich.table import Table
from rich.text import Text

from arena.papers.cwm.published.layout import Column
from arena.papers.cwm.tables.cells import Cell, Sheet
from arena.report.tables import add_row, new_table
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
_LATEX: Final = str.maketrans(
    {
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "≥": r"$\ge$",
        "–": "--",
        "†": r"$^\dagger$",
        "[": "{[}",
        "]": "{]}",
    }
)


def terminal_table(sheet: Sheet) -> Table:
    """Returns a table for the terminal; the paper's figure stands in brackets under ours.

    One with many columns for each opponent has a row for each opponent instead.
    """
    groups = list(dict.fromkeys(column.group for column in sheet.columns))
    tall = len(sheet.columns) > WIDEST and all(groups)
    if tall:
        names = list(dict.fromkeys(column.name for column in sheet.columns))
        heading = "" if "against" in sheet.label_names else "against"
        made = new_table(sheet.title, [*sheet.label_names, heading], names)
    else:
        made = new_table(sheet.title, sheet.label_names, [_stacked(column) for column in sheet.columns])
    for row in sheet.rows:
        if not tall:
            add_row(made, *row.labels, *map(_two_lines, row.cells))
        for group in groups if tall else ():
            cells = {cell.column.name: _two_lines(cell) for cell in row.cells if cell.column.group == group}
            add_row(made, *row.labels, group, *(cells.get(name, "") for name in names))
        made.add_section()
    made.caption = Text("\n".join([READING, *sheet.notes]))
    made.caption_justify = "left"
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


def csv_text(sheet: Sheet) -> str:
    """Returns a sheet as CSV, one line a cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for row in sheet.rows:
        for cell in row.cells:
            ours, paper = cell.measured, cell.published
            theirs = ("", None, "", "") if paper is None else (paper.state, paper.value, paper.words, paper.copy)
            numbers = (ours.value, ours.words, ours.low, ours.high, ours.n, ours.unit)
            place = (sheet.name, " / ".join(row.labels), cell.column.key)
            writer.writerow([*place, ours.state, *numbers, "; ".join(ours.sources), *theirs])
    return text.getvalue()


def latex(sheet: Sheet) -> str:
    """Returns a sheet as a `table` with a `tabular`; ours, and in brackets the paper's, in each cell."""
    labels = len(sheet.label_names)
    lines = [
        r"\begin{table}",
        rf"\caption{{{escaped(sheet.title)}. {escaped(' '.join([READING, *sheet.notes]))}}}",
        rf"\label{{{sheet.name}}}",
        r"\centering\scriptsize",
        rf"\begin{{tabular}}{{{'l' * labels}{'r' * len(sheet.columns)}}}",
        r"\hline",
        *_headings(sheet),
        r"\hline",
    ]
    for row in sheet.rows:
        cells = [*map(escaped, row.labels), *(escaped(_two_lines(cell).replace("\n", " ")) for cell in row.cells)]
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\hline", r"\end{tabular}", r"\end{table}", ""])


def _headings(sheet: Sheet) -> Iterable[str]:
    blank = [""] * len(sheet.label_names)
    if any(column.group for column in sheet.columns):
        groups = [(name, len(list(members))) for name, members in groupby(column.group for column in sheet.columns)]
        spans = [rf"\multicolumn{{{width}}}{{c}}{{{escaped(name)}}}" for name, width in groups]
        yield " & ".join([*blank, *spans]) + r" \\"
    names = [*sheet.label_names, *(column.name for column in sheet.columns)]
    yield " & ".join(map(escaped, names)) + r" \\"


def escaped(text: str) -> str:
    """Returns text as LaTeX shows it."""
    return text.translate(_LATEX)


def plain(sheet: Sheet) -> str:
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


def write(folder: Path, sheets: Sequence[Sheet]) -> None:
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
