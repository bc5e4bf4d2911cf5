"""Games of simultaneous moves at the table, as networks read them: every observation, those before missed turns too."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from games.api import Action, GameError, Observation
from games.posg.api import PosgError, PosgModel, Vectors


class SimultaneousTable:
    """Reads what one agent is told at its own decision points (`games.posg.serialised`)."""

    def __init__(self, model: PosgModel) -> None:
        """Args:
        model: the reference.

        Raises:
            PosgError: it does not write observations as vectors.
        """
        if not isinstance(model, Vectors):
            raise PosgError(f"{model.info.id} does not write observations as vectors, which networks read.")
        self._model: Any = model

    @property
    def actions(self) -> Sequence[Action]:
        """All actions of an agent by number; those of all agents are called alike."""
        actions: Sequence[Action] = self._model.info.actions[0]
        return actions

    def views(self, history: Sequence[Observation], view: str, first: int) -> list[Observation]:
        """Returns what the agent was told at every step, from step `first` on: its number, and an observation as JSON.

        Raises:
            GameError: the history is not that of a game of simultaneous moves.
        """
        found: list[Observation] = []
        for shown in history:
            if not isinstance(shown, dict) or not {"agent", "seen"} <= shown.keys():
                raise GameError(f"{self._model.info.id} shows an agent what it is told as `agent` and `seen`.")
            found += [{"agent": shown["agent"], "seen": seen} for seen in (*shown.get("missed", ()), shown["seen"])]
        return found[first:]

    def image(self, view: Observation) -> Any:
        """Returns a view as the batched environment shows it, float32 [1, 1, F]."""
        observation = self._model.observation_from_json(view["agent"], view["seen"])
        return np.array(self._model.encode(view["agent"], observation), np.float32).reshape(1, 1, -1)

    def graph(self, view: Observation) -> Any:
        """Refuses: there are no graphs.

        Raises:
            GameError: always.
        """
        raise GameError(f"{self._model.info.id} has no graphs, only vectors: its networks have the encoder mlp.")
