"""Grids of square cells: numbered row by row from the top left, with what lies in each of the four directions."""

from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

Cell: TypeAlias = int

DIRECTIONS: Final = ("north", "east", "south", "west")
STEPS: Final = ((0, -1), (1, 0), (0, 1), (-1, 0))
"""By direction: columns to the right, and rows down."""


class CellGrid(NamedTuple):
    """A grid and where steps in it lead.

    Attributes:
        width: cells in a row.
        height: rows.
        open: the cells that can be stood on, ascending.
        next: by cell and direction, where a step leads: the cell itself if there is a wall or the border.
        neighbours: by cell, the open cells beside it, in the order of the directions.
        places: by cell, column and row.
    """

    width: int
    height: int
    open: tuple[Cell, ...]
    next: tuple[tuple[Cell, ...], ...]
    neighbours: tuple[tuple[Cell, ...], ...]
    places: tuple[tuple[int, int], ...]

    def cell(self, column: int, row: int) -> Cell:
        """Returns the number of a cell."""
        return row * self.width + column

    def distances(self, goal: Cell) -> list[int]:
        """Returns by cell the number of steps of the shortest way to a goal, -1 where there is none."""
        far = [-1] * len(self.next)
        far[goal] = 0
        waiting = deque([goal])
        while waiting:
            cell = waiting.popleft()
            for there in self.next[cell]:
                if far[there] < 0:
                    far[there] = far[cell] + 1
                    waiting.append(there)
        return far


def read_grid(rows: Sequence[str], wall: str = "#") -> CellGrid:
    """Reads a grid from one line of text a row; every sign but that of a wall is an open cell."""
    height, width = len(rows), len(rows[0])
    places = tuple((column, row) for row in range(height) for column in range(width))
    is_open = [rows[row][column] != wall for column, row in places]

    def step(column: int, row: int, direction: int) -> Cell | None:
        after = column + STEPS[direction][0], row + STEPS[direction][1]
        if not (0 <= after[0] < width and 0 <= after[1] < height):
            return None
        cell = after[1] * width + after[0]
        return cell if is_open[cell] else None

    reached = [[step(column, row, direction) for direction in range(4)] for column, row in places]
    return CellGrid(
        width,
        height,
        tuple(cell for cell, free in enumerate(is_open) if free),
        tuple(tuple(number if to is None else to for to in tos) for number, tos in enumerate(reached)),
        tuple(tuple(to for to in tos if to is not None) for tos in reached),
        places,
    )
