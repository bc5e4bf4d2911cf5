"""A table, and how it is written: for the terminal, as CSV, Markdown, LaTeX and HTML."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

from markupsafe import Markup, escape
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from arena.figures import layout

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


@dataclass
class Sheet:
    """A table: columns of texts, then columns of numbers, which stand to the right.

    Attributes:
        title: above it; "" for none.
        texts: headings of the first columns.
        numbers: headings of the others.
        rows: cells as text, or as values for CSV, where None is an empty cell.
        note: under it; "" for none.
        names: of agents, in texts and headings: where a terminal is too narrow for them, letters stand for them.
        section: in the terminal a line is drawn after so many rows, 0 for none.
    """

    title: str
    texts: Sequence[str]
    numbers: Sequence[str] = ()
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    note: str = ""
    names: Sequence[str] = ()
    section: int = 0

    @classmethod
    def of_records(cls, records: Sequence[Mapping[str, Any]]) -> "Sheet":
        """Returns a sheet of records that all have the columns of the first; without records it has no column."""
        return cls("", list(records[0]) if records else (), rows=[tuple(record.values()) for record in records])

    def add(self, *cells: Any) -> None:
        """Adds a row."""
        self.rows.append(cells)

    @property
    def columns(self) -> list[str]:
        """All headings."""
        return [*self.texts, *self.numbers]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yields title, table and note for a terminal of any width."""
        if self.title:
            yield Text(self.title, style="italic", no_wrap=False, overflow="fold")
        rows = tuple(tuple(map(str, row)) for row in self.rows)
        yield from layout.parts(
            layout.Cells(tuple(self.texts), tuple(self.numbers), rows, tuple(dict.fromkeys(self.names)), self.section),
            options.max_width,
        )
        if self.note:
            yield Text(self.note, style="dim", no_wrap=False, overflow="fold")

    def csv(self) -> str:
        """Returns headings and rows as CSV, "" without columns."""
        text = io.StringIO()
        if self.columns:
            csv.writer(text, lineterminator="\n").writerows([self.columns, *self.rows])
        return text.getvalue()

    def markdown(self) -> str:
        """Returns headings and rows in Markdown."""
        lines = (
            f"| {' | '.join(map(str, row))} |\n" for row in (self.columns, ["---"] * len(self.columns), *self.rows)
        )
        return "".join(lines)

    def latex(self, label: str, groups: Sequence[str] = ()) -> str:
        """Returns a `table` with a `tabular`.

        Args:
            label: to refer to it.
            groups: what stands above the numbers, one a column, alike for those that belong together; "" for nothing.
        """
        lines = [
            r"\begin{table}",
            rf"\caption{{{latex_text(self.title)}. {latex_text(self.note)}}}",
            rf"\label{{{label}}}",
            r"\centering\scriptsize",
            rf"\begin{{tabular}}{{{'l' * len(self.texts)}{'r' * len(self.numbers)}}}",
            r"\hline",
        ]
        if any(groups):
            spans = [(name, len(list(members))) for name, members in groupby(groups)]
            heads = [rf"\multicolumn{{{width}}}{{c}}{{{latex_text(name)}}}" for name, width in spans]
            lines.append(_latex_row([*[""] * len(self.texts), *heads]))
        lines += [_latex_row(map(latex_text, self.columns)), r"\hline"]
        lines += [_latex_row(latex_text(str(cell).replace("\n", " ")) for cell in row) for row in self.rows]
        return "\n".join([*lines, r"\hline", r"\end{tabular}", r"\end{table}", ""])

    def html(self) -> Markup:
        """Returns a `table` with its title as caption; every cell is escaped."""
        caption = f"<caption>{escape(self.title)}</caption>\n" if self.title else ""
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        starts = [*["<td>"] * len(self.texts), *['<td class="number">'] * len(self.numbers)]
        rows = (
            "".join(f"{start}{escape(cell)}</td>" for start, cell in zip(starts, row, strict=True)) for row in self.rows
        )
        body = "".join(f"<tr>{cells}</tr>\n" for cells in rows)
        return Markup(f"<table>\n{caption}<tr>{head}</tr>\n{body}</table>")


def latex_text(text: str) -> str:
    """Returns text as LaTeX shows it."""
    return text.translate(_LATEX)


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"
