"""Figures as inline SVG, drawn from their sheets: curves by call, bars of outcomes, distributions of payoffs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.figures.curve import Curve
from arena.papers.cwm.published.games import GAMES
from arena.papers.cwm.tables.cells import Cell, PaperTable, Row

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 300, 190, 34, 22, 26
BAR_WIDTH, BAR_HEIGHT = 180, 12


@dataclass(frozen=True)
class Panel:
    """A small chart of shares by number of calls.

    Attributes:
        title: what is drawn.
        lines: one a game and synthesis.
        longest: the largest number of calls.
    """

    title: str
    lines: tuple[Curve, ...]
    longest: int


@dataclass(frozen=True)
class Bar:
    """One bar, in pixels of a width of `BAR_WIDTH`.

    Attributes:
        label: what it is of.
        parts: (class, x, width, title) of each part.
        words: the same as text.
        ticks: x of upright lines: the ends and the middle of a distribution.
    """

    label: str
    parts: tuple[tuple[str, float, float, str], ...]
    words: str
    ticks: tuple[float, ...] = ()


def panels(sheet: PaperTable) -> list[Panel]:
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


def _line(name: str, points: Sequence[tuple[int, Cell]], longest: int) -> Curve:
    marks = []
    for call, cell in points:
        x = LEFT + call / longest * (WIDTH - LEFT - 12)
        y = TOP + (1 - (cell.measured.value or 0.0)) * (HEIGHT - TOP - BOTTOM)
        marks.append((round(x, 1), round(y, 1), f"{name}, call {call}: {cell.measured.shown(4)}"))
    return Curve(name, " ".join(f"{x},{y}" for x, y, _ in marks), tuple(marks))


def bars(sheet: PaperTable) -> list[Bar]:
    """Returns the bars of matches that were played: outcomes, or where the paper draws payoffs, their distribution."""
    found: list[Bar] = []
    for row in sheet.rows:
        if _NAMES[row.labels[0].partition(",")[0]].payoff == "payoffs":
            found += _payoffs(sheet, row)
        else:
            found += _outcomes(row)
    return found


_NAMES = {game.name: game for game in GAMES}


def _outcomes(row: Row) -> list[Bar]:
    """Returns a bar of shares for each group of columns (with and without a value function, or the one there is), and
    under it the paper's, where all three shares can be read."""
    found = []
    for group in dict.fromkeys(cell.column.group for cell in row.cells):
        label = ", ".join(filter(None, (*row.labels, group)))
        for name, shares in ((label, _values(row, group)), (f"{label}, the paper", _published(row, group))):
            if {"win", "draw", "loss"} <= shares.keys():
                found.append(_stacked(name, shares))
    return found


def _stacked(label: str, shares: Mapping[str, float]) -> Bar:
    parts = []
    x = 0.0
    for name in ("win", "draw", "loss"):
        parts.append((name, round(x, 1), round(shares[name] * BAR_WIDTH, 1), f"{name} {shares[name]:.2f}"))
        x += shares[name] * BAR_WIDTH
    return Bar(label, tuple(parts), ", ".join(title for _, _, _, title in parts))


def _payoffs(sheet: PaperTable, row: Row) -> list[Bar]:
    """Returns a bar of payoffs for each group of columns, on one scale for all rows of a game."""
    low, high = _range(sheet, row.labels[0])
    found = []
    for group in dict.fromkeys(cell.column.group for cell in row.cells):
        values = _values(row, group)
        if "us" not in values:
            continue

        def at(value: float) -> float:
            return round((value - low) / ((high - low) or 1.0) * BAR_WIDTH, 1)

        label = ", ".join(filter(None, (*row.labels, group)))
        words = f"mean {values['us']:.2f}, opponent's {values['them']:.2f}"
        if "median" in values:
            box = at(values["lower quarter"]), at(values["upper quarter"])
            title = f"half of the matches paid {values['lower quarter']:g} to {values['upper quarter']:g}, {words}"
            ticks = tuple(at(values[name]) for name in ("lowest", "median", "highest"))
            found.append(Bar(label, (("win", box[0], round(max(1.0, box[1] - box[0]), 1), title),), words, ticks))
        else:
            found.append(Bar(label, (("win", 0.0, at(values["us"]), words),), words, (at(values["them"]),)))
    return found


def _range(sheet: PaperTable, game: str) -> tuple[float, float]:
    """Returns the lowest and the highest payoff that any row of a game shows, 0 among them."""
    rows = [row for row in sheet.rows if row.labels[0] == game]
    names = ("us", "them", "lowest", "highest")
    values = [0.0] + [
        cell.measured.value
        for row in rows
        for cell in row.cells
        if cell.column.name in names and cell.measured.value is not None
    ]
    return min(values), max(values)


def _values(row: Row, group: str) -> dict[str, float]:
    cells = [cell for cell in row.cells if cell.column.group == group]
    return {cell.column.name: cell.measured.value for cell in cells if cell.measured.value is not None}


def _published(row: Row, group: str) -> dict[str, float]:
    cells = [(cell.column, cell.published) for cell in row.cells if cell.column.group == group]
    return {column.name: paper.value for column, paper in cells if paper is not None and paper.value is not None}
