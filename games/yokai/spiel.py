"""Yōkai as the OpenSpiel game `python_yokai`.

Importing this module registers it; `pyspiel.load_game("python_yokai(version=16c,players=3,memory=True)")` then works.
It runs under OpenSpiel's Python algorithms. The bots written in C++ crash the process on any Python game.
"""

from collections.abc import Sequence
from typing import Final

import pyspiel

from games.adapters import spiel_game
from games.api import GameError
from games.yokai import tensors
from games.yokai.config import config
from games.yokai.game import YokaiGame
from games.yokai.observe import information_state_string
from games.yokai.rules import YokaiState

SHORT_NAME: Final = "python_yokai"
VERSIONS: Final = {"9c": 9, "16c": 16, "8c": 8}
"""The parameter `version` -> number of cards; `8c` is a reduced setting, not in the paper."""


class SpielYokai(YokaiGame):
    """Yōkai with the tensors and the information state string that OpenSpiel asks for.

    The observation tensor is the image of `tensors.py` in C order, of the view that `memory` chooses. The information
    state string is the same with and without `memory`.
    """

    def observation_shape(self) -> tuple[int, ...]:
        """Returns (g, g + 1, f)."""
        return tensors.image_shape(self.config)

    def observation_tensor(self, state: YokaiState, player: int) -> Sequence[float]:
        """Returns what `player` sees as a flat vector, length g * (g + 1) * f."""
        view = self.observation(state, player, self.info.views[0])
        return [float(value) for value in tensors.flat(view, self.config)]

    def information_state_string(self, state: YokaiState, player: int) -> str:
        """Returns all actions so far with what `player` learned from them; see `observe.py`."""
        return information_state_string(state, player, self.config.players)


def make(version: str = "9c", players: int = 2, memory: bool = False) -> SpielYokai:
    """Returns the game that OpenSpiel's parameters ask for.

    Args:
        version: `9c` or `16c`, or `8c` (a reduced setting, not in the paper).
        players: 2, 3 or 4; in `8c` 2.
        memory: make perfect memory of own observations the view of the tensor.

    Raises:
        GameError: there is no such configuration.
    """
    if version not in VERSIONS:
        raise GameError(f"{SHORT_NAME} has the versions {', '.join(VERSIONS)}, not {version!r}.")
    return SpielYokai(config(VERSIONS[version], players), memory)


def register() -> pyspiel.Game:
    """Registers the game with OpenSpiel, unless that was done before, and loads its default configuration."""
    if SHORT_NAME in pyspiel.registered_names():
        return pyspiel.load_game(SHORT_NAME)
    return spiel_game.register(
        make,
        SHORT_NAME,
        long_name="Yōkai",
        parameters={"version": "9c", "players": 2, "memory": False},
        players=(2, 4),
    )


register()
