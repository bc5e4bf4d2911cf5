"""What a rebuilt table consists of: cells that hold our figure, the paper's, and where ours comes from."""

from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, TypeAlias

from arena.figures.intervals import Estimate
from arena.papers.cwm.published.layout import Column
from arena.papers.cwm.published.numbers import Published

State: TypeAlias = Literal[
    "measured", "not recorded", "not finished", "not tested", "not played", "not trained", "not measured"
]
"""`not recorded`: no completions of the synthesis ship, and no live model was asked; `not finished`: the synthesis gave
no model, or has not come to an end; `not measured`: we have no such figure."""

_ROUNDING: Final = 1e-9
"""An end of an interval that is 1 but for the last digits of its computation is 1."""


@dataclass(frozen=True)
class Measured:
    """Our figure of a cell.

    Attributes:
        state: whether there is one, and if not, why.
        value: the number, None for words.
        words: of what is no plain number, e.g. `2/10` or `partial`.
        low: lower end of the 95 % interval, None where there is none.
        high: upper end.
        n: how much it rests on, in units of `unit`.
        unit: tests, matches, syntheses, or calls.
        sources: where it comes from: paths within the folder, with the key after `#`.
    """

    state: State
    value: float | None = None
    words: str = ""
    low: float | None = None
    high: float | None = None
    n: int | None = None
    unit: str = ""
    sources: tuple[str, ...] = ()

    @classmethod
    def of(cls, estimate: Estimate, unit: str, sources: tuple[str, ...]) -> "Measured":
        """Returns a figure with its interval."""
        return cls("measured", estimate.mean, "", estimate.low, estimate.high, estimate.n, unit, sources)

    def shown(self, digits: int) -> str:
        """Returns the figure as text, with its interval where there is one."""
        if self.state != "measured":
            return self.state
        if self.value is None or self.words:
            return self.words
        if self.low is None or self.high is None:
            return number(self.value, digits)
        return f"{number(self.value, digits)} [{number(self.low, digits)}, {number(self.high, digits)}]"


def number(value: float, digits: int) -> str:
    """Returns a number with so many decimals; a share below 1 is never shown as 1, nor a zero as minus zero."""
    text = f"{value:.{digits}f}"
    if value < 1 - _ROUNDING and digits >= 4 and float(text) == 1:
        return f"{1 - 10**-digits:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


@dataclass(frozen=True)
class Cell:
    """One cell.

    Attributes:
        column: which column it is in.
        measured: ours.
        published: the paper's; None where the paper has no number to compare, as in a curve.
    """

    column: Column
    measured: Measured
    published: Published | None


@dataclass(frozen=True)
class Row:
    """One row: what names it, and its cells."""

    labels: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class PaperTable:
    """A table, or the numbers of a figure.

    Attributes:
        name: `table-7` or `figure-2`.
        title: as a reader sees it.
        label_names: headings of the columns that name a row.
        columns: the others.
        rows: in the paper's order.
        notes: sentences under it.
    """

    name: str
    title: str
    label_names: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """Returns the sheet as JSON, one object a cell."""
        return {
            "name": self.name,
            "title": self.title,
            "notes": list(self.notes),
            "cells": [_flat(self, row, cell) for row in self.rows for cell in row.cells],
        }


def _flat(sheet: PaperTable, row: Row, cell: Cell) -> dict[str, Any]:
    labels = dict(zip(sheet.label_names, row.labels, strict=True))
    ours = asdict(cell.measured)
    ours["sources"] = list(cell.measured.sources)
    paper = None if cell.published is None else asdict(cell.published)
    return {**labels, "column": cell.column.key, "ours": ours, "paper": paper}
