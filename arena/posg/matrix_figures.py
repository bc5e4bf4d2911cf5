"""What a matrix comes to: means of cells, averages in and out of distribution, and the gap between them.

In distribution a method meets the population that it planned for. Cells share the chance of each episode, so averages
and differences are taken episode by episode, and their intervals are of these.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from arena.figures import formatting
from arena.figures.intervals import Estimate, mean_estimate
from arena.figures.sheet import Sheet
from arena.posg.matrix import Matrix, MatrixCell
from arena.posg.matrix_methods import MoveBudget

NOBODY: Final = "–"
"""Stands for a population or a budget that a method does not have."""
NOT_PLAYED: Final = "not played"


@dataclass(frozen=True)
class InAndOut:
    """A method with one budget, over all populations.

    Attributes:
        method: its name.
        title: the paper's name of it.
        budget: of a move; None: it searches nothing.
        inside: mean return in distribution; None where nothing of that was played.
        outside: out of distribution, as everything is of a method that is told of no population; None likewise.
        gap: `inside` less `outside`; None where one of them is missing.
    """

    method: str
    title: str
    budget: MoveBudget | None
    inside: Estimate | None
    outside: Estimate | None
    gap: Estimate | None


def cell_mean(cell: MatrixCell, bounds: tuple[float, float]) -> Estimate | None:
    """Returns the mean return of a cell, with its interval over episodes."""
    return _within(mean_estimate(list(cell.returns.values())), bounds)


def _within(value: Estimate | None, bounds: tuple[float, float]) -> Estimate | None:
    """Returns an estimate whose interval ends at the bounds."""
    if value is None or value.low is None or value.high is None:
        return value
    return replace(value, low=max(bounds[0], value.low), high=min(bounds[1], value.high))


def averages(matrix: Matrix) -> list[InAndOut]:
    """Returns a row for each method and budget, in the order of the cells."""
    return [_average(cells, matrix.bounds) for cells in _rows(matrix)]


def _rows(matrix: Matrix) -> list[list[MatrixCell]]:
    """Returns the cells of each method and budget."""
    rows: dict[tuple[str, MoveBudget | None], list[MatrixCell]] = {}
    for cell in matrix.cells:
        rows.setdefault((cell.place.method, cell.place.budget), []).append(cell)
    return list(rows.values())


def beyond_the_first(matrix: Matrix) -> list[tuple[MatrixCell, Estimate | None, Estimate | None]]:
    """Returns how much more each further method gets than the first, in and out of distribution.

    Differences are taken episode by episode, over the populations that both met. A method that plans for nobody in
    particular has none in distribution.

    Returns:
        A cell of the method, and the two differences; None where they have no episode in common.
    """
    rows, span = _rows(matrix), matrix.bounds[1] - matrix.bounds[0]
    found = []
    for cells in rows[1:]:
        ends: list[Estimate | None] = []
        for inside in (True, False):
            one, first = ([cell for cell in own if bool(cell.place.inside) is inside] for own in (cells, rows[0]))
            met = {cell.place.met for cell in one} & {cell.place.met for cell in first}
            more, less = (_by_episode([cell for cell in own if cell.place.met in met]) for own in (one, first))
            both = sorted(more.keys() & less.keys())
            ends.append(_within(mean_estimate([more[number] - less[number] for number in both]), (-span, span)))
        found.append((cells[0], ends[0], ends[1]))
    return found


def _average(cells: Sequence[MatrixCell], bounds: tuple[float, float]) -> InAndOut:
    inside = _by_episode([cell for cell in cells if cell.place.inside])
    outside = _by_episode([cell for cell in cells if not cell.place.inside])
    both = sorted(inside.keys() & outside.keys())
    first, span = cells[0], bounds[1] - bounds[0]
    return InAndOut(
        first.place.method,
        first.place.title,
        first.place.budget,
        _within(mean_estimate(list(inside.values())), bounds),
        _within(mean_estimate(list(outside.values())), bounds),
        _within(mean_estimate([inside[number] - outside[number] for number in both]), (-span, span)),
    )


def _by_episode(cells: Sequence[MatrixCell]) -> dict[int, float]:
    """Returns the mean over cells of each episode that all of them have."""
    if not cells:
        return {}
    numbers = sorted(set.intersection(*(set(cell.returns) for cell in cells)))
    return {number: math.fsum(cell.returns[number] for cell in cells) / len(cells) for number in numbers}


def normalised(value: Estimate | None, bounds: tuple[float, float]) -> Estimate | None:
    """Returns a mean return as a share of the way from the lowest return to the highest."""
    if value is None:
        return None
    low, high = bounds

    def share(end: float | None) -> float | None:
        return None if end is None else (end - low) / (high - low)

    error = None if value.standard_error is None else value.standard_error / (high - low)
    mean = (value.mean - low) / (high - low)
    return replace(value, mean=mean, standard_error=error, low=share(value.low), high=share(value.high))


def told(value: Estimate | None) -> str:
    """Returns a mean with half of its interval and the number of episodes behind it."""
    return NOT_PLAYED if value is None else f"{formatting.interval(value)} (n {value.n})"


def spent(budget: MoveBudget | None) -> str:
    """Returns what a method has for a move."""
    return NOBODY if budget is None else budget.text


def sheets(matrix: Matrix) -> list[Sheet]:
    """Returns the matrix itself, its averages in and out of distribution, and where methods differ from the first."""
    more = beyond_the_first(matrix)
    return [_cells_sheet(matrix), _averages_sheet(matrix), *([_differences_sheet(matrix, more)] if more else [])]


def _differences_sheet(matrix: Matrix, more: Sequence[tuple[MatrixCell, Estimate | None, Estimate | None]]) -> Sheet:
    first = matrix.cells[0].place
    name = " ".join([first.method, *([first.budget.text] if first.budget else [])])
    sheet = Sheet(f"{matrix.game}: return beyond that of {name}", ["method", "budget"], ["in", "out"])
    for cell, inside, outside in more:
        ends = (NOBODY if value is None else told(value) for value in (inside, outside))
        sheet.add(cell.place.method, spent(cell.place.budget), *ends)
    sheet.note = "Differences episode by episode, over the populations that both methods met."
    return sheet


def _cells_sheet(matrix: Matrix) -> Sheet:
    met = list(dict.fromkeys(cell.place.met for cell in matrix.cells))
    rows: dict[tuple[str, str, str], dict[str, MatrixCell]] = {}
    for cell in matrix.cells:
        key = (cell.place.method, spent(cell.place.budget), cell.place.planned or NOBODY)
        rows.setdefault(key, {})[cell.place.met] = cell
    title = f"{matrix.game}: mean return of agent {matrix.seat}, by the population that it planned for and met"
    sheet = Sheet(title, ["method", "budget", "planned for"], [*(f"met {name}" for name in met), "moves"])
    for key, cells in rows.items():
        found = [told(cell_mean(cells[name], matrix.bounds)) if name in cells else NOT_PLAYED for name in met]
        moves = mean_estimate([count for cell in cells.values() for count in cell.moves.values()])
        sheet.add(*key, *found, NOBODY if moves is None else f"{moves.mean:.1f}")
    sheet.note = _note(matrix)
    return sheet


def _note(matrix: Matrix) -> str:
    parts = [
        f"{formatting.INTERVAL}; n: episodes, whose co-players are the population's members in "
        "turn. Intervals end at what the game can pay."
    ]
    fallbacks = sum(cell.fallbacks for cell in matrix.cells)
    forfeits = sum(cell.forfeits for cell in matrix.cells)
    if fallbacks:
        parts.append(f"{fallbacks} moves were not searched.")
    if forfeits:
        parts.append(f"{forfeits} games were forfeited, and count as such.")
    if any(cell.place.budget is not None and cell.place.budget.seconds is not None for cell in matrix.cells):
        parts.append("What is planned in seconds depends on the machine.")
    return " ".join([*parts, *(f"{NOT_PLAYED.capitalize()}: {why}" for why in matrix.lacking)])


def _averages_sheet(matrix: Matrix) -> Sheet:
    low, high = matrix.bounds
    scaled = (low, high) != (0.0, 1.0)
    shares = ["in, 0 to 1", "out, 0 to 1"] if scaled else []
    sheet = Sheet(f"{matrix.game}: in and out of distribution", ["method", "budget"], ["in", "out", "gap", *shares])
    blind = {cell.place.method for cell in matrix.cells if cell.place.planned is None}
    for row in averages(matrix):
        inside, gap = (NOBODY, NOBODY) if row.method in blind else (told(row.inside), told(row.gap))
        found = [formatting.interval(normalised(value, matrix.bounds)) for value in (row.inside, row.outside)]
        sheet.add(row.method, spent(row.budget), inside, told(row.outside), gap, *(found if scaled else []))
    sheet.note = "In: mean of the cells whose method met whom it planned for; out: of the others; gap: in less out."
    sheet.note += f" Returns go from {low:g} to {high:g}." if scaled else ""
    sheet.note += " A method that plans for nobody in particular is out of distribution with all." if blind else ""
    return sheet


def to_json(matrix: Matrix) -> dict[str, Any]:
    """Returns cells and averages as JSON."""

    def written(value: Estimate | None) -> dict[str, Any] | None:
        return None if value is None else asdict(value)

    return {
        "game": matrix.game,
        "seat": matrix.seat,
        "bounds": list(matrix.bounds),
        "episodes": matrix.episodes,
        "seed": matrix.seed,
        "cells": [_cell_json(cell) | {"return": written(cell_mean(cell, matrix.bounds))} for cell in matrix.cells],
        "averages": [
            {
                "method": row.method,
                "budget": None if row.budget is None else asdict(row.budget),
                **{name: written(getattr(row, name)) for name in ("inside", "outside", "gap")},
                "inside_normalised": written(normalised(row.inside, matrix.bounds)),
                "outside_normalised": written(normalised(row.outside, matrix.bounds)),
            }
            for row in averages(matrix)
        ],
        "beyond_the_first": [
            {
                "method": cell.place.method,
                "budget": None if cell.place.budget is None else asdict(cell.place.budget),
                "inside": written(inside),
                "outside": written(outside),
            }
            for cell, inside, outside in beyond_the_first(matrix)
        ],
        "lacking": list(matrix.lacking),
    }


def _cell_json(cell: MatrixCell) -> dict[str, Any]:
    def by_number(values: Mapping[int, float]) -> list[list[float]]:
        return [[number, values[number]] for number in sorted(values)]

    told: dict[str, Any] = asdict(cell)
    place: dict[str, Any] = told.pop("place")
    return place | told | {"returns": by_number(cell.returns), "moves": by_number(cell.moves)}
