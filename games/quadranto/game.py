"""Quadranto behind `games.api.Game`."""

import random
from typing import Any, Final

from games.api import CHANCE, TERMINAL, Action, GameInfo, IllegalActionError, ObsActionHistory, Observation
from games.quadranto import resample
from games.quadranto.matrix import CELLS, LEGAL, MOVES, QUADRANTS, SIZE, STARTS, STEPS, TARGETS, number

MAX_LENGTH: Final = 20

_PLACES: Final = tuple({resample.place(player, cell): cell for cell in cells} for player, cells in enumerate(STARTS))
"""By player: chance's actions, with the cell that each stands for."""


class Quadranto:
    """Two players hunt each other on 4 x 4 cells (paper on code world models, appendix H.9); `RULES.md` is the spec.

    State: `positions`, [row, column] by player, null until placed; `moves`, the players' actions so far, 0 to 20;
    `current_player`, 0, 1, -1 (chance) or -4 (over). Observation: `player`, who looks; `position`, its own;
    `opponent_quadrant`, `top left`, `top right`, `bottom left` or `bottom right`, null until placed; `moves`,
    `current_player`. Actions: `Left`, `Right`, `Up`, `Down`, `Stay`; chance `place player 0 at 1,0`. Returns: 1, 0, -1.

    What the paper leaves open, and why it is so here:

    * Walls: a step off the matrix is not legal, so that no two actions do the same. A player knows its own cell, so
      this tells it nothing.
    * Turns: player 0 moves first, then they alternate. `Stay` counts as a move, so 20 moves are 10 of each player.
    * The observation also says how many moves were made and who is to move, which both players can count.
    * What the opponent did is never shown, not even by its action's name; nor is its cell at the end.
    """

    def __init__(self) -> None:
        self._info = GameInfo(
            id="quadranto",
            num_players=2,
            utility="win_loss_draw",
            min_utility=-1.0,
            max_utility=1.0,
            perfect_information=False,
            has_chance=True,
            player_names=("player_0", "player_1"),
            max_length=MAX_LENGTH,
        )

    @property
    def info(self) -> GameInfo:
        return self._info

    def initial_state(self) -> dict[str, Any]:
        return {"positions": [None, None], "moves": 0, "current_player": CHANCE}

    def current_player(self, state: dict[str, Any]) -> int:
        return int(state["current_player"])

    def legal_actions(self, state: dict[str, Any]) -> list[Action]:
        """Returns the steps that stay on the matrix; chance's outcomes row by row."""
        player = state["current_player"]
        if player >= 0:
            row, column = state["positions"][player]
            return list(LEGAL[SIZE * row + column])
        return list(_PLACES[_unplaced(state)]) if player == CHANCE else []

    def chance_outcomes(self, state: dict[str, Any]) -> list[tuple[Action, float]]:
        if state["current_player"] != CHANCE:
            return []
        places = _PLACES[_unplaced(state)]
        return [(action, 1 / len(places)) for action in places]

    def apply_action(self, state: dict[str, Any], action: Action) -> dict[str, Any]:
        """Returns the next state.

        Raises:
            IllegalActionError: the action is not legal in `state`.
        """
        player, positions, moves = state["current_player"], state["positions"], state["moves"]
        if player == CHANCE:
            player = _unplaced(state)
            cell = _PLACES[player].get(action)
            following = CHANCE if player == 0 else 0
        else:
            cell = None if player == TERMINAL else MOVES[number(*positions[player])].get(action)
            following, moves = 1 - player, moves + 1
        if cell is None:
            legal = self.legal_actions(state)
            raise IllegalActionError(f"quadranto: {action!r} is not legal here; legal are {legal}.")
        own, other = list(CELLS[cell]), positions[1 - player]
        if own == other or moves == MAX_LENGTH:
            following = TERMINAL
        shown = None if other is None else list(other)
        return {
            "positions": [own, shown] if player == 0 else [shown, own],
            "moves": moves,
            "current_player": following,
        }

    def rewards(self, state: dict[str, Any]) -> list[float]:
        first, second = state["positions"]
        if state["current_player"] != TERMINAL or first != second:
            return [0.0, 0.0]
        return [1.0, -1.0] if state["moves"] % 2 else [-1.0, 1.0]

    def observations(self, state: dict[str, Any]) -> list[Observation]:
        first, second = state["positions"]
        return [_view(state, 0, first, second), _view(state, 1, second, first)]

    def resample_history(self, history: ObsActionHistory, player: int, rng: random.Random) -> list[Action]:
        """Returns a history drawn uniformly from all that fit; see `resample.resample_history`."""
        return resample.resample_history(history, player, rng)

    def playout(self, state: dict[str, Any], rng: random.Random, max_actions: int) -> list[float]:
        """Plays uniform random actions, chance's too, to the end."""
        if state["current_player"] == TERMINAL:
            return [0.0, 0.0]
        cells, draw = [], rng.random
        for starts, position in zip(STARTS, state["positions"], strict=True):
            max_actions -= position is None
            cells.append(rng.choice(starts) if position is None else number(*position))
        player = max(0, state["current_player"])
        own, other = cells[player], cells[1 - player]
        for count in range(min(max_actions, MAX_LENGTH - state["moves"])):
            targets = TARGETS[own]
            own = targets[int(draw() * len(targets))]
            if own == other:
                return [1.0, -1.0] if (player + count) % 2 == 0 else [-1.0, 1.0]
            own, other = other, own
        return [0.0, 0.0]

    def render(self, state: dict[str, Any], player: int | None = None) -> str:
        """Returns the matrix with the players as 0 and 1 and `*` for both in one cell; with `player`, the other one's
        quadrant is filled with `?`."""
        views = self.observations(state)
        marks = [["."] * SIZE for _ in range(SIZE)]
        if player is not None:
            for (row, column), quadrant in zip(CELLS, QUADRANTS, strict=True):
                marks[row][column] = "?" if quadrant == views[player]["opponent_quadrant"] else "."
        for seat in (0, 1) if player is None else (player,):
            if state["positions"][seat] is not None:
                row, column = state["positions"][seat]
                marks[row][column] = "*" if marks[row][column] == "0" else str(seat)
        lines = [f"{' '.join(row[:2])} | {' '.join(row[2:])}" for row in marks]
        return "\n".join([*lines[:2], "----+----", *lines[2:], f"moves: {state['moves']} of {MAX_LENGTH}"])

    def all_actions(self) -> list[Action]:
        """Returns every action of a player; its place in the list is its index."""
        return list(STEPS)

    def all_chance_actions(self) -> list[Action]:
        """Returns every outcome of chance; its place in the list is its index."""
        return [action for places in _PLACES for action in places]


def _unplaced(state: dict[str, Any]) -> int:
    """Returns the player whom chance places next."""
    return 0 if state["positions"][0] is None else 1


def _view(state: dict[str, Any], player: int, own: list[int] | None, other: list[int] | None) -> Observation:
    return {
        "player": player,
        "position": None if own is None else list(own),
        "opponent_quadrant": None if other is None else QUADRANTS[SIZE * other[0] + other[1]],
        "moves": state["moves"],
        "current_player": state["current_player"],
    }
