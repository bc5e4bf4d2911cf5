"""The 4 by 4 matrix of Quadranto: its cells, what leads where, and its quadrants, as tables made once.

A cell is a number, 4 * row + column, both 0 to 3 from the top left; in states it is `[row, column]`.
"""

from collections.abc import Mapping
from typing import Final

from games.api import Action

SIZE: Final = 4
CELLS: Final = tuple(divmod(cell, SIZE) for cell in range(SIZE * SIZE))
"""By cell: (row, column)."""
STEPS: Final[Mapping[Action, tuple[int, int]]] = {
    "Left": (0, -1),
    "Right": (0, 1),
    "Up": (-1, 0),
    "Down": (1, 0),
    "Stay": (0, 0),
}
"""By action: (rows down, columns right)."""


def number(row: int, column: int) -> int:
    """Returns the number of a cell."""
    return SIZE * row + column


def _moves(cell: int) -> dict[Action, int]:
    row, column = CELLS[cell]
    reached = {action: (row + down, column + right) for action, (down, right) in STEPS.items()}
    return {action: number(r, c) for action, (r, c) in reached.items() if 0 <= r < SIZE and 0 <= c < SIZE}


MOVES: Final = tuple(_moves(cell) for cell in range(len(CELLS)))
"""By cell: its legal actions, in the order of `STEPS`, with the cell that each leads to."""
LEGAL: Final = tuple(tuple(moves) for moves in MOVES)
"""By cell: its legal actions."""
TARGETS: Final = tuple(tuple(moves.values()) for moves in MOVES)
"""By cell: where its legal actions lead."""
QUADRANTS: Final = tuple(f"{('top', 'bottom')[row // 2]} {('left', 'right')[column // 2]}" for row, column in CELLS)
"""By cell: the name of its quadrant."""
STARTS: Final = tuple(
    tuple(cell for cell, quadrant in enumerate(QUADRANTS) if quadrant == own) for own in ("top left", "bottom right")
)
"""By player: the cells on which chance may place it."""
