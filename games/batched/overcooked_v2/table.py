"""Reads OvercookedV2 at the table, where chefs are shown JSON: needs neither JAX nor JaxMARL."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from games.api import DEFAULT_VIEW, Action, GameError, Observation
from games.posg.overcooked_v2.model import make
from games.posg.overcooked_v2.rules import ACTIONS


class OvercookedTable:
    """Reads one layout: every chef acts in every step, so that a network was shown just its own decision points."""

    def __init__(self, game_id: str) -> None:
        self._game_id, self._model = game_id, make(game_id)

    @property
    def actions(self) -> Sequence[Action]:
        """All actions of a chef by number."""
        return ACTIONS

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Height, width and channels."""
        sight = self._model.sight
        return sight.height, sight.width, sight.channels

    def views(self, history: Sequence[Observation], view: str, first: int) -> list[Observation]:
        """Returns what the chef saw at every step from `first` on.

        Raises:
            GameError: the history is not that of all own decision points.
        """
        if view != DEFAULT_VIEW or [shown.get("step") for shown in history] != list(range(len(history))):
            raise GameError(
                f"a history of {self._game_id} is read from its first step on, in the view {DEFAULT_VIEW}; "
                f"given are {len(history)} decision points in the view {view}."
            )
        return list(history[first:])

    def image(self, view: Observation) -> Any:
        """Returns a view as JaxMARL shows it, float32 [h, w, C]."""
        agent = int(view["agent"])
        seen = self._model.observation_from_json(agent, view["seen"])
        return np.array(self._model.encode(agent, seen), np.float32).reshape(self.image_shape)

    def graph(self, view: Observation) -> Any:
        """OvercookedV2 has no graphs.

        Raises:
            GameError: always.
        """
        raise GameError(f"{self._game_id} is not shown as a graph.")
