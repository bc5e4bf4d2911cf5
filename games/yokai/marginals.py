"""The exact posterior of each card's colour, for one player, if placements of hints say nothing.

The deal does not depend on what the players do, and none of their actions is ruled out by hidden colours: every
assignment of the colours that are left to the cards that the player has not observed is equally likely.
"""

from collections.abc import Mapping
from typing import Any

from games.api import GameError, ObsActionHistory
from games.yokai.config import Config
from games.yokai.resample import known_colours


def marginals(config: Config, history: ObsActionHistory) -> list[Mapping[str, float]]:
    """Returns the probability of each colour, by card id.

    Args:
        config: the configuration.
        history: the player's own decision points, in either view.

    Raises:
        GameError: the history is empty.
    """
    if not history:
        raise GameError("the history is empty; a player's history holds at least its current decision point.")
    views: list[Any] = [view for view, _ in history]
    known = known_colours(config, views)
    hidden = known.count(None)
    each = config.cards // len(config.colours)
    left = {colour: (each - known.count(colour)) / hidden for colour in config.colours} if hidden else {}
    possible = {colour: share for colour, share in left.items() if share}
    return [possible if colour is None else {colour: 1.0} for colour in known]
