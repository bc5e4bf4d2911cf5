"""What a page is given of a position: no more than the seat may see, until the game is over."""

from collections.abc import Sequence
from typing import Any

from arena.terminal.game_words import words_of
from games.api import CHANCE, Action, Game, RendersText, State, observe
from games.yokai import drawing
from games.yokai.drawing_parts import CELL
from games.yokai.game import YokaiGame

PLAIN_DRAWING = 20_000
"""Characters of a drawing that a page shows."""


def seen(game: Game, state: State, seat: int, view: str, names: Sequence[str]) -> dict[str, Any]:
    """Returns what one seat sees.

    Args:
        game: the true game.
        state: any state.
        seat: whose eyes.
        view: which of the game's.
        names: of the players, by seat.
    """
    info = game.info
    found: dict[str, Any] = {"observation": observe(game, state, seat, view)}
    # A game draws its default view alone.
    if view == info.views[0] and isinstance(game, RendersText):
        found["rendering"] = game.render(state, seat)[:PLAIN_DRAWING]
    if isinstance(game, YokaiGame) and state["phase"] != "deal":
        found["drawing"] = drawing.of_view(game.config, state, seat, view == "memory", names)
    return found


def whole(game: Game, state: State, seat: int, names: Sequence[str]) -> dict[str, Any]:
    """Returns a position as it truly is, for games that are over and games that are watched.

    Args:
        game: the true game.
        state: any state.
        seat: whose view stands beside the truth.
        names: of the players, by seat.
    """
    found: dict[str, Any] = {}
    if isinstance(game, RendersText):
        found["rendering"] = game.render(state)[:PLAIN_DRAWING]
    if isinstance(game, YokaiGame) and state["phase"] != "deal":
        frame = drawing.frame(game.config, state, seat, True, names)
        canvas = drawing.canvas(game.config)
        # The seat's own view, below the truth, is drawn by itself, and its heading with it.
        upper = canvas.height - drawing.LABEL - game.config.grid * CELL - drawing.MARGIN // 2
        found["drawing"] = {"body": canvas.backdrop + frame.body, "box": [0, 0, canvas.width, upper]}
    return found


def told(game: Game, state: State, player: int, action: Action, seat: int, names: Sequence[str]) -> str | None:
    """Returns what was done in words that the seat may know, None where it may not.

    Args:
        game: the true game.
        state: after the action.
        player: who did it; chance, too.
        action: what.
        seat: who is told.
        names: of the players, by seat.
    """
    info = game.info
    if isinstance(game, YokaiGame):
        return None if player == CHANCE else drawing.caption(game.config, state, names)
    in_public = words_of(game).in_public
    if in_public is not None:
        return None if player == CHANCE else in_public(state, names)
    if player == seat or (info.perfect_information and not info.simultaneous):
        return action
    return None
