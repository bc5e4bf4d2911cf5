"""Reads Hanabi at the table, where players are shown JSON: OpenSpiel encodes it, and no JAX is needed."""

import random
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from games.api import CHANCE, DEFAULT_VIEW, Action, GameError, Observation
from games.hanabi.config import config
from games.hanabi.game import Hanabi
from games.hanabi.resample import resample_history

NO_OP: Final = "(No-op)"
"""What who is not to move does in the batched game; never legal at the table."""


class HanabiTable:
    """Reads one variant, the steps at which others move included, from the moves that views tell.

    What a player sees does not hang on its own cards: any hand that fits what it was shown leads to the same vectors.
    """

    def __init__(self, players: int, colours: int, ranks: int, hand: int, info: int, lives: int) -> None:
        """Sets up a variant.

        Raises:
            GameError: there is no such variant.
        """
        self._game = Hanabi(config(players, colours, ranks, hand, info, lives))

    @property
    def actions(self) -> Sequence[Action]:
        """All actions of a player by number, as OpenSpiel numbers them, and the no-op of the batched game."""
        native = self._game.native
        begun = native.new_initial_state()
        return [*(begun.action_to_string(0, number) for number in range(native.num_distinct_actions())), NO_OP]

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Height, width and channels."""
        (features,) = self._game.native.observation_tensor_shape()
        return 1, 1, features

    def views(self, history: Sequence[Observation], view: str, first: int) -> list[Observation]:
        """Returns what the player saw at every step from `first` on, as `{"features": …}`.

        Raises:
            GameError: the history is not that of all own decision points in the view that tells what hints leave
                possible of a card.
        """
        players = self._game.config.players
        moves = sum(len(shown["recent"]) for shown in history)
        if view != DEFAULT_VIEW or not history or moves != (len(history) - 1) * players + history[0]["player"]:
            raise GameError(
                f"a history of {self._game.info.id} is read from its first move on, in the view {DEFAULT_VIEW}; "
                f"given are {len(history)} decision points and {moves} moves in the view {view}."
            )
        player = history[0]["player"]
        actions = resample_history(self._game.config, [(shown, None) for shown in history], player, random.Random(0))
        states = [state.native for state in self._game.walk(actions)]
        steps = [state for state in states if state.current_player() != CHANCE]
        return [{"features": state.observation_tensor(player)} for state in steps[first:]]

    def image(self, view: Observation) -> Any:
        """Returns a view as the batched game shows it, float32 [1, 1, F]."""
        return np.array(view["features"], np.float32).reshape(self.image_shape)

    def graph(self, view: Observation) -> Any:
        """Hanabi has no graphs.

        Raises:
            GameError: always.
        """
        raise GameError(f"{self._game.info.id} is not shown as a graph.")
