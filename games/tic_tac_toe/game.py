"""Tic-tac-toe, played by OpenSpiel."""

from games.adapters.open_spiel import OpenSpielGame
from games.api import State


class TicTacToe(OpenSpielGame):
    """Tic-tac-toe on a 3 by 3 board; `RULES.md` is the spec.

    State and both observations (OpenSpiel's struct): `board`, nine cells `.`, `x` or `o`, cell 3 * row + column;
    `current_player`, `x`, `o` or `Terminal`. Actions: `x(row,column)` and `o(row,column)`. Returns: 1, 0 or -1.
    """

    def __init__(self) -> None:
        super().__init__(
            "tic_tac_toe",
            game_id="tic_tac_toe",
            utility="win_loss_draw",
            player_names=("x", "o"),
            static_actions=True,
        )

    def render(self, state: State, player: int | None = None) -> str:
        """Returns the board with row and column numbers; every player sees all of it."""
        board = state.to_dict()["board"]
        rows = [f"{row} " + " ".join(board[3 * row : 3 * row + 3]) for row in range(3)]
        return "\n".join(["  0 1 2", *rows])
