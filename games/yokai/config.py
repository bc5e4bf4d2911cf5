"""The configurations of Yōkai and everything about them that never changes during a game.

Six are the paper's: 9 or 16 cards, two to four players. `yokai-8c-2p` is ours, a reduced setting, not in the paper,
small enough for two processor cores to train learned agents on. Its 8 cards of two colours start in a ring, the square
of nine cells without its middle, on a grid of 7 by 7. All else is as in the others.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Final, NamedTuple

from games.api import Action, GameError

COLOURS = ("red", "green", "blue", "yellow")
"""Colour words in the order that actions, subsets and tensors use."""
ACTIONS_PER_TURN = 4
HINTS = {
    (9, 2): (1, 3, 0),
    (9, 3): (2, 3, 0),
    (9, 4): (3, 3, 0),
    (16, 2): (2, 3, 2),
    (16, 3): (2, 4, 3),
    (16, 4): (3, 4, 3),
    (8, 2): (2, 1, 0),
}
"""(cards, players) -> number of hints with one, two and three colours (the Yōkai paper, Table 7; with 8 cards ours)."""


class Board(NamedTuple):
    """What the number of cards decides: number of colours, side of the grid, side and offset of the start square."""

    colours: int
    grid: int
    start: int
    offset: int


BOARDS: Final = {9: Board(3, 9, 3, 3), 16: Board(4, 10, 4, 3), 8: Board(2, 7, 3, 2)}
"""Number of cards -> the board."""


@dataclass(frozen=True)
class Config:
    """One configuration.

    Attributes:
        cards: number of cards, 8, 9 or 16; written Y in the design.
        players: 2, 3 or 4; with 8 cards 2.
        colours: colour words in use, 2, 3 or 4 of them.
        grid: cells along one side of the square grid.
        start: cells along one side of the square in which the cards start.
        offset: row and column of the first card at the start.
        hints_by_size: hints with one, two and three colours.
    """

    cards: int
    players: int
    colours: tuple[str, ...]
    grid: int
    start: int
    offset: int
    hints_by_size: tuple[int, int, int]

    @property
    def id(self) -> str:
        """Registry id, e.g. `yokai-9c-2p`."""
        return f"yokai-{self.cards}c-{self.players}p"

    @property
    def hints(self) -> int:
        """Number of hints, H."""
        return sum(self.hints_by_size)

    @property
    def cards_per_colour(self) -> int:
        return self.cards // len(self.colours)

    @property
    def max_length(self) -> int:
        """Actions of a game that nobody ends early: two turns a hint, four actions a turn."""
        return 2 * ACTIONS_PER_TURN * self.hints

    @property
    def subsets(self) -> tuple[tuple[str, ...], ...]:
        """Colour subsets that a hint may show: smaller ones first, then in colour order."""
        sizes = [size for size, count in enumerate(self.hints_by_size, start=1) if count]
        return tuple(subset for size in sizes for subset in combinations(self.colours, size))

    @property
    def is_ring(self) -> bool:
        """Whether the middle cell of the start square is empty at the start, so that the cards form a ring."""
        return self.cards == self.start**2 - 1

    def start_positions(self) -> list[list[int]]:
        """Returns [row, column] of every card at the start, by card id: row by row, without the middle of a ring."""
        cells = [divmod(cell, self.start) for cell in range(self.start**2)]
        if self.is_ring:
            del cells[self.start**2 // 2]
        return [[self.offset + row, self.offset + column] for row, column in cells]

    def player_actions(self) -> list[Action]:
        """Returns every action of a player in index order, length 1 + Y + Y·g² + H + H·g² + 1."""
        cells = [f"{row},{column}" for row in range(self.grid) for column in range(self.grid)]
        return [
            "no-op",
            *(f"observe {card}" for card in range(self.cards)),
            *(f"move {card} to {cell}" for card in range(self.cards) for cell in cells),
            *(f"reveal {hint}" for hint in range(self.hints)),
            *(f"place {hint} at {cell}" for hint in range(self.hints) for cell in cells),
            "end",
        ]

    def chance_actions(self) -> list[Action]:
        """Returns every action of chance in index order: colours, then hint subsets."""
        return [*(f"deal {colour}" for colour in self.colours), *(f"hint {'-'.join(s)}" for s in self.subsets)]


def config(cards: int, players: int) -> Config:
    """Returns the configuration with that many cards and players.

    Raises:
        GameError: there is no such configuration.
    """
    if (cards, players) not in HINTS:
        raise GameError(
            "Yōkai has 9 or 16 cards and 2, 3 or 4 players, or 8 cards and 2 players (a reduced setting, not in the "
            f"paper), not {cards} cards and {players} players."
        )
    board = BOARDS[cards]
    return Config(
        cards=cards,
        players=players,
        colours=COLOURS[: board.colours],
        grid=board.grid,
        start=board.start,
        offset=board.offset,
        hints_by_size=HINTS[cards, players],
    )
