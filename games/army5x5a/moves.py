"""The pieces of army5x5a and everywhere they can go, as tables made once.

A square is a number, 5 * row + column, both 0 to 4; row 0 is row A. A board is a text of 25 characters, row A first.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from games.api import Action

SIZE: Final = 5
SQUARES: Final = SIZE * SIZE
EMPTY: Final = "."
PASS: Final = "PASS"
PIECES: Final = ("XIV", "xiv")
"""The letters of each player's pieces, by player: general, infantry, cavalry."""
GENERALS: Final = ("X", "x")

STEPS: Final[Mapping[str, tuple[tuple[int, int], ...]]] = {
    "X": ((1, 0), (-1, 0), (0, 1), (0, -1), (0, -2), (0, 2)),
    "I": ((1, 0), (2, 0), (1, -1), (1, 1), (-1, 0)),
    "V": ((0, 3), (1, 2), (2, 1), (3, 0)),
}
"""What the paper lists (appendix H.5): by kind, (rows down, columns right) for player 0."""


class Move(NamedTuple):
    """One way of a piece from one square: where to, and the action's name."""

    target: int
    action: Action


def square_name(square: int) -> str:
    """Returns the name of a square, e.g. `C2`."""
    return f"{'ABCDE'[square // SIZE]}{square % SIZE + 1}"


def _moves(piece: str, square: int) -> tuple[Move, ...]:
    """Lists where `piece` can go from `square` on an empty board, targets in ascending order."""
    sign = 1 if piece.isupper() else -1
    row, column = divmod(square, SIZE)
    reached = ((row + sign * down, column + sign * right) for down, right in STEPS[piece.upper()])
    inside = sorted(SIZE * r + c for r, c in reached if 0 <= r < SIZE and 0 <= c < SIZE)
    return tuple(Move(target, f"{square_name(square)}_to_{square_name(target)}") for target in inside)


MOVES: Final[Mapping[str, tuple[tuple[Move, ...], ...]]] = {
    piece: tuple(_moves(piece, square) for square in range(SQUARES)) for letters in PIECES for piece in letters
}
"""By piece and square: its moves."""

TARGETS: Final[Mapping[str, tuple[tuple[int, ...], ...]]] = {
    piece: tuple(tuple(move.target for move in moves) for moves in by_square) for piece, by_square in MOVES.items()
}
"""By piece and square: the squares that it can go to."""

ROUTES: Final[Mapping[Action, tuple[int, int]]] = {
    move.action: (square, move.target)
    for by_square in MOVES.values()
    for square, moves in enumerate(by_square)
    for move in moves
}
"""By action: from which square to which."""
