"""Connect Four, played by OpenSpiel."""

from games.adapters.open_spiel import OpenSpielGame
from games.api import State


class ConnectFour(OpenSpielGame):
    """Connect Four, 6 rows by 7 columns; `RULES.md` is the spec.

    State and both observations (OpenSpiel's struct): `board`, six rows of seven cells `.`, `x` or `o`, the bottom row
    first; `current_player`, `x`, `o` or `Terminal`; `is_terminal`; `winner`, `x`, `o`, `draw` or empty.
    Actions: `x0` to `x6` and `o0` to `o6`, the column. Returns: 1, 0 or -1.
    """

    def __init__(self) -> None:
        super().__init__(
            "connect_four",
            game_id="connect_four",
            utility="win_loss_draw",
            player_names=("x", "o"),
            static_actions=True,
        )

    def render(self, state: State, player: int | None = None) -> str:
        """Returns the board, top row first, over the column numbers; every player sees all of it."""
        rows = [" ".join(row) for row in reversed(state.to_dict()["board"])]
        return "\n".join([*rows, " ".join(str(column) for column in range(7))])
