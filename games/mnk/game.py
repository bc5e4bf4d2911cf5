"""Generalized tic-tac-toe: four in a row on a board of six by six, played by OpenSpiel."""

from typing import Final

from games.adapters.open_spiel import OpenSpielGame
from games.api import TERMINAL, Json, Observation, State

SIZE: Final = 6
WIN_LENGTH: Final = 4
MARKS: Final = ("x", "o")


class GeneralizedTicTacToe(OpenSpielGame):
    """The m,n,k-game with m = 6, n = 6, k = 4; `RULES.md` is the spec.

    State and both observations: `board`, six rows from the top, each a list of six cells `.`, `x` or `o`;
    `current_player`, `x`, `o` or `Terminal`; `winner`, `x`, `o`, `draw`, or empty while the game goes on.
    Actions: `x(row,column)` and `o(row,column)`. Returns: 1, 0 or -1.

    It is the game of the paper on code world models (appendix H.4), whose text leaves the strings open, and whether a
    line longer than four wins: here it does.
    """

    def __init__(self) -> None:
        super().__init__(
            f"mnk(m={SIZE},n={SIZE},k={WIN_LENGTH})",
            game_id="mnk",
            utility="win_loss_draw",
            player_names=MARKS,
            static_actions=True,
        )

    def state_to_json(self, state: State) -> Json:
        player = self.current_player(state)
        return {
            "board": [list(row) for row in str(state).splitlines()],
            "current_player": "Terminal" if player == TERMINAL else MARKS[player],
            "winner": _winner(state) if player == TERMINAL else "",
        }

    def observe(self, state: State, player: int) -> Observation:
        shown: Observation = self.state_to_json(state)
        return shown

    def render(self, state: State, player: int | None = None) -> str:
        """Returns the board with row and column numbers; every player sees all of it."""
        rows = [f"{number} {' '.join(row)}" for number, row in enumerate(str(state).splitlines())]
        return "\n".join(["  " + " ".join(str(column) for column in range(SIZE)), *rows])


def _winner(state: State) -> str:
    """Returns who has won the finished game, or `draw`."""
    first = state.returns()[0]
    return "draw" if first == 0 else MARKS[0 if first > 0 else 1]
