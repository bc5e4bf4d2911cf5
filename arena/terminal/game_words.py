"""What a game tells people at the terminal beside its drawing (module `words` of its folder, found by name)."""

import importlib
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from games import registry
from games.api import Game, GameInfo, Observation, State, UnknownGameError


@dataclass(frozen=True)
class GameWords:
    """How a game speaks to people.

    Attributes:
        note: what a player of a view is told once, "" for nothing.
        told: sentences of what others did since the player's last move, as far as the player sees it; None where the
            game has no such words.
        drawing: the game's drawing as people see it.
        standing: what can be said of the score now; None where nothing is known before the end.
        breakdown: how the result came about, from the game's account of its end; None where it has none.
        colours: style of each piece of a drawing, by regular expression.
        in_public: of games in which everybody sees all moves: the last move of a state, in words that all may know.
    """

    note: Callable[[str], str] = lambda view: ""
    told: Callable[[Observation, Sequence[str]], list[str]] | None = None
    drawing: Callable[[str], str] = lambda text: text
    standing: Callable[[Observation], str] | None = None
    breakdown: Callable[[Mapping[str, Any]], str] | None = None
    colours: Mapping[str, str] = field(default_factory=dict)
    in_public: Callable[[State, Sequence[str]], str] | None = None


def words_of(game: Game) -> GameWords:
    """Returns the words that ship in the game's folder; plain ones if there are none, or if a model plays its part."""
    try:
        package = registry.describe(game.info.id).package
    except UnknownGameError:
        return GameWords()
    # A synthesised model of a game has its id, but draws and observes as it likes.
    if not package or not type(game).__module__.startswith(f"{package}."):
        return GameWords()
    if importlib.util.find_spec(f"{package}.words") is None:
        return GameWords()
    module = importlib.import_module(f"{package}.words")
    return GameWords(
        module.note,
        module.told,
        module.drawing,
        module.standing,
        module.breakdown,
        dict(module.COLOURS),
        getattr(module, "in_public", None),
    )


def result(info: GameInfo, seat: int, returns: Sequence[float], won: bool | None) -> str:
    """Returns in words what the end means for one player.

    Args:
        info: of the game.
        seat: of the player.
        returns: of all players.
        won: of a cooperative game, whether all won together; None where the game does not say.
    """
    own = returns[seat]
    if info.utility == "identical":
        return "everybody got" if won is None else "won together" if won else "lost together"
    best = max(returns)
    if own < best:
        return "lost"
    return "won" if list(returns).count(best) == 1 else "drew" if info.utility == "win_loss_draw" else "shared the best"
