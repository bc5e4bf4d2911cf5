"""Exact sampling of the histories that one player cannot tell from the real one.

The deal does not depend on what the players do, and no player's action is ruled out by hidden colours. So, given what
a player knows, the posterior of the deal is chance's own distribution of the part that the player has not seen.
"""

import random
from collections.abc import Sequence

from games.api import Action, GameError, ObsActionHistory, Observation
from games.yokai.config import ACTIONS_PER_TURN, Config
from games.yokai.deal import draw_colours, draw_hints


def resample_history(config: Config, history: ObsActionHistory, player: int, rng: random.Random) -> list[Action]:
    """Returns a whole history, chance first, drawn from the exact posterior given `history`.

    Args:
        config: the configuration.
        history: the player's own decision points, in either view.
        player: whose history it is.
        rng: source of all randomness.

    Raises:
        GameError: the history is empty, another player's, or has gaps.
    """
    if not history:
        raise GameError("the history is empty; a player's history holds at least its current decision point.")
    for view, _ in history:
        if view["you"] != player or view["player"] != player:
            raise GameError(f"the history is to hold decision points of player {player}, not of {view['you']}.")
    views = [view for view, _ in history]
    log = public_log(config, views)
    colours = draw_colours(config, known_colours(config, views), rng)
    hints = draw_hints(config, [hint["colours"] for hint in views[-1]["hints"]], rng)
    return [*(f"deal {c}" for c in colours), *(f"hint {'-'.join(h)}" for h in hints), *log]


def public_log(config: Config, views: Sequence[Observation]) -> list[Action]:
    """Returns all players' actions up to the last view, rebuilt from the recent actions of one player's views.

    Raises:
        GameError: the views leave a gap.
    """
    log: list[Action] = []
    for view in views:
        first = ACTIONS_PER_TURN * max(0, view["turn"] - config.players)
        if first > len(log):
            raise GameError(f"actions {len(log)} to {first - 1} are in no view; pass every own decision point.")
        log[first:] = view["recent_actions"]
    return log


def known_colours(config: Config, views: Sequence[Observation]) -> list[str | None]:
    """Returns, by card id, the colour that one of the views shows, or None."""
    known: list[str | None] = [None] * config.cards
    for view in views:
        for card, colour in enumerate(view["colours"]):
            if colour is not None:
                known[card] = colour
    return known
