"""The generalized chess army5x5a behind `games.api.Game`."""

import random
from typing import Any, Final

from games.api import TERMINAL, Action, GameInfo, IllegalActionError, Observation
from games.army5x5a.moves import EMPTY, GENERALS, MOVES, PASS, PIECES, ROUTES, SIZE, TARGETS

MAX_LENGTH: Final = 100
START: Final = ("VIXIV", ".....", ".....", ".....", "vixiv")

_SLOTS: Final = 6
"""So many ways the piece with the most ways has, the general."""
_NOWHERE: Final = -1
_SLOTTED: Final = {
    piece: tuple(targets + (_NOWHERE,) * (_SLOTS - len(targets)) for targets in by_square)
    for piece, by_square in TARGETS.items()
}
"""By piece and square: its targets, filled up to six."""


class Army5x5a:
    """Chess with three kinds of pieces on 5 x 5 squares (paper on code world models, appendix H.5); `RULES.md`.

    State and both observations: `board`, five strings of five characters, row A first: `X` general, `I` infantry, `V`
    cavalry, upper case player 0's, lower case player 1's, `.` empty; `current_player`, 0, 1 or -4 (over); `moves`, the
    number of actions so far, 0 to 100. Actions: `A2_to_C2`, `PASS`. Returns: 1, 0 or -1.

    What the paper leaves open, and why it is so here:

    * Start: `VIXIV` on row A against `vixiv` on row E. The paper's example of a move, `A2_to_C2`, is then an opening
      move of an infantry, and nobody can force a win within seven actions.
    * Directions: a step's first number is rows forward, its second columns to the right, from where player 0 sits;
      player 1's are turned by half a turn, so that both armies face each other and are equally strong. The lists are
      taken as they stand: the general's and the infantry's name their backward and sideways steps one by one, so the
      cavalry's, which name none, never go back.
    * `PASS` is always legal: it is listed among the actions without a condition, and so nobody is ever stuck.
    * Length: after 100 actions the game is a draw, since pieces can go to and fro for ever. Of random games with no
      limit, about one in thirteen is longer.
    """

    def __init__(self) -> None:
        self._info = GameInfo(
            id="army5x5a",
            num_players=2,
            utility="win_loss_draw",
            min_utility=-1.0,
            max_utility=1.0,
            perfect_information=True,
            has_chance=False,
            player_names=("player_0", "player_1"),
            max_length=MAX_LENGTH,
        )

    @property
    def info(self) -> GameInfo:
        return self._info

    def initial_state(self) -> dict[str, Any]:
        return {"board": list(START), "current_player": 0, "moves": 0}

    def current_player(self, state: dict[str, Any]) -> int:
        return int(state["current_player"])

    def legal_actions(self, state: dict[str, Any]) -> list[Action]:
        """Returns the moves by starting square, then by target, A1 to E5, and `PASS` at the end."""
        player = state["current_player"]
        if player == TERMINAL:
            return []
        own, cells = PIECES[player], "".join(state["board"])
        legal = [
            action
            for square, piece in enumerate(cells)
            if piece in own
            for target, action in MOVES[piece][square]
            if cells[target] not in own
        ]
        legal.append(PASS)
        return legal

    def chance_outcomes(self, state: dict[str, Any]) -> list[tuple[Action, float]]:
        return []

    def apply_action(self, state: dict[str, Any], action: Action) -> dict[str, Any]:
        """Returns the next state.

        Raises:
            IllegalActionError: the action is not legal in `state`.
        """
        player, board, moves = state["current_player"], list(state["board"]), state["moves"] + 1
        captured = EMPTY
        if action != PASS or player == TERMINAL:
            source, target = self._route(state, action)
            row, column = divmod(source, SIZE)
            piece, line = board[row][column], board[row]
            board[row] = f"{line[:column]}{EMPTY}{line[column + 1 :]}"
            row, column = divmod(target, SIZE)
            captured, line = board[row][column], board[row]
            board[row] = f"{line[:column]}{piece}{line[column + 1 :]}"
        over = captured in GENERALS or moves == MAX_LENGTH
        return {"board": board, "current_player": TERMINAL if over else 1 - player, "moves": moves}

    def rewards(self, state: dict[str, Any]) -> list[float]:
        if state["current_player"] != TERMINAL:
            return [0.0, 0.0]
        cells = "".join(state["board"])
        return _returns("X" in cells, "x" in cells)

    def observations(self, state: dict[str, Any]) -> list[Observation]:
        return [{**state, "board": list(state["board"])} for _ in PIECES]

    def playout(self, state: dict[str, Any], rng: random.Random, max_actions: int) -> list[float]:
        """Plays uniform random actions to the end.

        Every piece is given six ways, those that it lacks leading nowhere, and `PASS` is one more; a way is drawn, and
        drawn again until it is legal, so each legal action is equally likely.
        """
        player = state["current_player"]
        if player == TERMINAL:
            return [0.0, 0.0]
        cells = list("".join(state["board"]))
        seats = [[square for square, piece in enumerate(cells) if piece in letters] for letters in PIECES]
        armies = [set(places) for places in seats]
        draw = rng.random
        for _ in range(min(max_actions, MAX_LENGTH - state["moves"])):
            own, places, other = armies[player], seats[player], armies[1 - player]
            ways = _SLOTS * len(places)
            while True:
                which, slot = divmod(int(draw() * (ways + 1)), _SLOTS)
                if which == len(places):
                    break
                source = places[which]
                target = _SLOTTED[cells[source]][source][slot]
                if target == _NOWHERE or target in own:
                    continue
                if target in other:
                    if cells[target] in GENERALS:
                        return _returns(player == 0, player == 1)
                    other.remove(target)
                    seats[1 - player].remove(target)
                own.remove(source)
                own.add(target)
                places[which] = target
                cells[target] = cells[source]
                break
            player = 1 - player
        return [0.0, 0.0]

    def render(self, state: dict[str, Any], player: int | None = None) -> str:
        """Returns the board with the squares' names at its edges; every player sees all of it."""
        rows = [f"{'ABCDE'[row]}  {' '.join(line)}" for row, line in enumerate(state["board"])]
        return "\n".join([*rows, f"   {' '.join(str(column) for column in range(1, SIZE + 1))}"])

    def all_actions(self) -> list[Action]:
        """Returns every action of a player; its place in the list is its index."""
        return [*sorted(ROUTES), PASS]

    def _route(self, state: dict[str, Any], action: Action) -> tuple[int, int]:
        """Returns from where to where a move goes.

        Raises:
            IllegalActionError: it is not legal in `state`.
        """
        player = state["current_player"]
        if player != TERMINAL and action in ROUTES:
            source, target = ROUTES[action]
            cells, own = "".join(state["board"]), PIECES[player]
            piece = cells[source]
            if piece in own and cells[target] not in own and target in TARGETS[piece][source]:
                return source, target
        raise IllegalActionError(f"army5x5a: {action!r} is not legal here; legal are {self.legal_actions(state)}.")


def _returns(general_0: bool, general_1: bool) -> list[float]:
    """Returns what the end pays, by whose generals still stand."""
    if general_0 == general_1:
        return [0.0, 0.0]
    return [1.0, -1.0] if general_0 else [-1.0, 1.0]
