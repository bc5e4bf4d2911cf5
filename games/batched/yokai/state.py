"""The state of batched Yōkai and the sizes that never change during a game."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from games.batched.api import Array
from games.yokai.config import Config

FACE_DOWN: Final = 0
FACE_UP: Final = 1
PLACED: Final = 2
OVER: Final = 0
"""`State.sub_step` of a finished game."""
NOBODY: Final = -1
"""`State.player` of a finished game, `State.hint_card` of a hint that lies on no card."""
ROWS_PER_WORD: Final = 3
"""Rows of the grid in one 32-bit word: 27 bits with 9 columns, 30 with 10, 21 with 7."""


class State(NamedTuple):
    """One game, or B games with a lane axis at the end of every array.

    Attributes:
        colours: int32 [Y], by card id, index of its colour.
        hints: int32 [H], by hint id, bit c set if the hint shows colour c.
        cells: int32 [Y], by card id, row * g + column.
        locked: bool [Y].
        status: int32 [H]: `FACE_DOWN`, `FACE_UP` or `PLACED`.
        hint_card: int32 [H], the card that the hint lies on, or `NOBODY`.
        observed: bool [P, Y]: that player has ever observed that card.
        seen: bool [Y]: the card was observed in the turn in progress.
        player: int32 []: whose turn it is, or `NOBODY`.
        sub_step: int32 []: 1 to 4, or `OVER`.
        turn: int32 []: turns completed.
        length: int32 []: actions of players so far.
        early: bool []: the last action was `end`.
        legal: uint32 [Y, W]: the legal actions of the player to move, packed (`yokai_legal.py`); follows from the
            other fields and is kept so that it is computed once a step.
    """

    colours: Array
    hints: Array
    cells: Array
    locked: Array
    status: Array
    hint_card: Array
    observed: Array
    seen: Array
    player: Array
    sub_step: Array
    turn: Array
    length: Array
    early: Array
    legal: Array


@dataclass(frozen=True)
class Sizes:
    """Sizes and tables of one configuration, in the letters of the design.

    Attributes:
        config: the configuration.
    """

    config: Config

    @property
    def cards(self) -> int:
        return self.config.cards

    @property
    def players(self) -> int:
        return self.config.players

    @property
    def hints(self) -> int:
        return self.config.hints

    @property
    def colours(self) -> int:
        return len(self.config.colours)

    @property
    def side(self) -> int:
        return self.config.grid

    @property
    def area(self) -> int:
        """Cells of the grid, g²."""
        return self.side**2

    @property
    def words(self) -> int:
        """Words that hold the grid, W."""
        return -(-self.side // ROWS_PER_WORD)

    @property
    def bits_per_word(self) -> int:
        """Cells in one word; cell `c` is bit `c % bits_per_word` of word `c // bits_per_word`."""
        return ROWS_PER_WORD * self.side

    @property
    def first_move(self) -> int:
        """Index of the action `move 0 to 0,0`; the observations stand before it, from 1 on."""
        return 1 + self.cards

    @property
    def first_reveal(self) -> int:
        return self.first_move + self.cards * self.area

    @property
    def first_place(self) -> int:
        return self.first_reveal + self.hints

    @property
    def end(self) -> int:
        """Index of the action `end`, the last one."""
        return self.first_place + self.hints * self.area

    @property
    def actions(self) -> int:
        """Number of actions, N."""
        return self.end + 1

    @property
    def channels(self) -> int:
        """Features of a cell or node, f."""
        return 2 * self.colours + 7

    @cached_property
    def start_cells(self) -> NDArray[np.int32]:
        """Cells of the cards at the start, [Y]."""
        return np.array([row * self.side + column for row, column in self.config.start_positions()], dtype=np.int32)

    @cached_property
    def subset_masks(self) -> NDArray[np.int32]:
        """Every colour subset that a hint may show, as a bit mask, smaller subsets first."""
        index = {colour: number for number, colour in enumerate(self.config.colours)}
        return np.array([sum(1 << index[c] for c in subset) for subset in self.config.subsets], dtype=np.int32)
