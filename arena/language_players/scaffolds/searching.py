"""Values by search of the moves that several answers proposed: a language model proposes, a search disposes."""

import random
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from arena.agents.api import Turn
from arena.agents.llm_settings import LlmConfigError
from arena.agents.playouts import playouts_of
from cwm.storage.keys import derive
from games.api import Action, Game, ResamplesHistory
from games.viewed import with_view
from search.action_values import ValueConfig, action_values

WORLDS: Final = 100
"""Histories that are sampled for a choice."""

Searcher: TypeAlias = Callable[[Turn], Mapping[Action, float]]
"""Returns what every legal move is worth; raises `search.errors.SearchFailedError` where that cannot be said."""


def check(game: Game) -> None:
    """Checks that moves of a game can be valued from what a player sees.

    Raises:
        LlmConfigError: they cannot.
    """
    if not isinstance(game, ResamplesHistory):
        raise LlmConfigError(
            f"choose=search samples what a player cannot see, and {game.info.id} has no inference function for that: "
            "use choose=model or choose=rating."
        )


def searcher(game: Game, view: str) -> Searcher:
    """Returns what values moves on the true game, played on by whoever the game names for that.

    Args:
        game: as `check` let it pass.
        view: what the player sees, and all that it is valued by.
    """
    seen, playouts = with_view(game, view), playouts_of(game)

    def values(turn: Turn) -> Mapping[Action, float]:
        rng = random.Random(derive("choose", turn.seed))
        found = action_values(seen, turn.history, turn.player, ValueConfig(WORLDS), rng, playouts=playouts)
        return {value.action: value.mean for value in found}

    return values
