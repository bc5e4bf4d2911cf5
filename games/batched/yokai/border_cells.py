"""How often cards are moved to the border of the grid, where the game ends in every direction (the paper's C.2)."""

from functools import cache
from typing import Any, NamedTuple

import jax.numpy as jnp

from games.batched.api import Array
from games.batched.game import Watch
from games.batched.yokai.state import Sizes


class Moves(NamedTuple):
    """What is kept of a step.

    Attributes:
        made: bool [G], a card was moved.
        border: bool [G], it was moved to a cell at the border.
    """

    made: Array
    border: Array


@cache
def border_moves(sizes: Sizes) -> Watch:
    """Returns what tells moves to border cells from others."""
    cell = jnp.arange(sizes.area)
    row, column = cell // sizes.side, cell % sizes.side
    last = sizes.side - 1
    at_border = (row == 0) | (row == last) | (column == 0) | (column == last)

    def watch(moment: Any) -> Moves:
        # All but the player to move do nothing, which is action 0.
        action = moment.actions.max(axis=1)
        made = moment.alive & (action >= sizes.first_move) & (action < sizes.first_reveal)
        return Moves(made, made & at_border[(action - sizes.first_move) % sizes.area])

    return watch
