"""Figures as inline SVG, drawn from their sheets: curves by call, and bars of outcomes or payoffs."""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.paper.cells import Cell, Row, Sheet

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 300, 190, 34, 22, 26
BAR_WIDTH, BAR_HEIGHT = 180, 12


@dataclass(frozen=True)
class Line:
    """One line of a panel, as SVG coordinates.

    Attributes:
        name: in the legend.
        points: `x,y` pairs for a polyline.
        marks: (x, y, title) of each point.
    """

    name: str
    points: str
    marks: tuple[tuple[float, float, str], ...]


@dataclass(frozen=True)
class Panel:
    """A small chart of shares by number of calls.

    Attributes:
        title: what is drawn.
        lines: one a game and synthesis.
        longest: the largest number of calls.
    """

    title: str
    lines: tuple[Line, ...]
    longest: int


@dataclass(frozen=True)
class Bar:
    """One bar in parts.

    Attributes:
        label: what it is of.
        parts: (class, x, width, title) of each part, in pixels of `BAR_WIDTH`.
        words: the same as text.
    """

    label: str
    parts: tuple[tuple[str, float, float, str], ...]
    words: str


def panels(sheet: Sheet) -> list[Panel]:
    """Returns the charts of a figure of curves: one a column, with a line a game."""
    found = []
    for index, column in enumerate(sheet.columns):
        series: dict[str, list[tuple[int, Cell]]] = {}
        for row in sheet.rows:
            cell = row.cells[index]
            if cell.measured.value is not None:
                several = len({other.labels[1] for other in sheet.rows if other.labels[0] == row.labels[0]}) > 1
                name = f"{row.labels[0]}, {row.labels[1]}" if several else row.labels[0]
                series.setdefault(name, []).append((int(row.labels[2]), cell))
        longest = max((call for points in series.values() for call, _ in points), default=1)
        lines = tuple(_line(name, points, longest) for name, points in series.items())
        found.append(Panel(column.heading, lines, longest))
    return found


def _line(name: str, points: Sequence[tuple[int, Cell]], longest: int) -> Line:
    marks = []
    for call, cell in points:
        x = LEFT + call / longest * (WIDTH - LEFT - 12)
        y = TOP + (1 - (cell.measured.value or 0.0)) * (HEIGHT - TOP - BOTTOM)
        marks.append((round(x, 1), round(y, 1), f"{name}, call {call}: {cell.measured.shown(4)}"))
    return Line(name, " ".join(f"{x},{y}" for x, y, _ in marks), tuple(marks))


def bars(sheet: Sheet) -> list[Bar]:
    """Returns a bar of wins, draws and losses for each row of matches that were played."""
    return [_bar(row) for row in sheet.rows if _share(row, "win") is not None]


def _bar(row: Row) -> Bar:
    parts = []
    x = 0.0
    for name in ("win", "draw", "loss"):
        share = _share(row, name) or 0.0
        parts.append((name, round(x, 1), round(share * BAR_WIDTH, 1), f"{name} {share:.2f}"))
        x += share * BAR_WIDTH
    words = ", ".join(title for _, _, _, title in parts)
    return Bar(", ".join(row.labels), tuple(parts), words)


def _share(row: Row, name: str) -> float | None:
    found = [cell for cell in row.cells if cell.column.key in (name, f"with.{name}", f"without.{name}")]
    values = [cell.measured.value for cell in found if cell.measured.value is not None]
    return values[-1] if values else None
