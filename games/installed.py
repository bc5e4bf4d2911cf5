"""Games that installed distributions bring (entry points of the group `cwm.games`)."""

import sys
from typing import Any

from games import plugins
from games.api import Game
from games.own_code import built, rules_in


def make(game: str, **params: Any) -> Game:
    """Builds a game by the name of its entry point, which is a class or a function that gives the game.

    Raises:
        PluginError: it cannot be loaded.
        OwnCodeError: it cannot be built, or is no game.
    """
    return built(plugins.load(plugins.GAMES, game), game, params)


def rules(game: str) -> str:
    """Returns the rules text: what the game's module calls `RULES`; errors as for `make`."""
    return rules_in(sys.modules[plugins.load(plugins.GAMES, game).__module__], game)
