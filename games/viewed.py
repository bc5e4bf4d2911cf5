"""A game with another of its views as the default, for planners that must see what their agent is shown."""

import copy
from dataclasses import replace

from games.api import Game, GameInfo, Observation, State, observe


def with_view(game: Game, view: str) -> Game:
    """Returns `game` with `view` first among its views, so that `observations` serves it.

    Everything else the game can do (resample, value, play out) it still does, in the same way.

    Raises:
        games.api.GameError: the game has no such view.
    """
    info = game.info
    if view == info.views[0]:
        return game
    observe(game, game.initial_state(), 0, view)
    shown = replace(info, views=(view, *(other for other in info.views if other != view)))

    def observations(self: Game, state: State) -> list[Observation]:
        return [observe(game, state, player, view) for player in range(info.num_players)]

    def get_info(self: Game) -> GameInfo:
        return shown

    # A subclass, not a wrapper: the optional protocols are told by the methods that a game has.
    base = type(game)
    viewed = copy.copy(game)
    viewed.__class__ = type(
        f"{base.__name__}Viewed", (base,), {"info": property(get_info), "observations": observations}
    )
    return viewed
