"""Games, drawn position by position."""

from dataclasses import dataclass

from arena.matches import replay
from arena.matches.match import GameRecord
from arena.usage import UsageError
from games import registry
from games.api import CHANCE, Game, State
from games.yokai import drawing
from games.yokai.drawing import Canvas, Frame
from games.yokai.game import YokaiGame


@dataclass(frozen=True)
class Film:
    """A game, drawn position by position.

    Attributes:
        name: of the game, for titles and files.
        canvas: what all frames share.
        frames: the game as it was dealt, then one frame after each action of a player, then one if it was forfeited.
    """

    name: str
    canvas: Canvas
    frames: tuple[Frame, ...]


def require_drawing(game: Game) -> YokaiGame:
    """Returns the game, if it can be drawn.

    Raises:
        UsageError: it cannot; the message says which games can.
    """
    if isinstance(game, YokaiGame):
        return game
    drawn = [game_id for game_id in registry.ids() if game_id.startswith("yokai-")]
    raise UsageError(
        f"{game.info.id} has no drawing ({', '.join(drawn)} have one); "
        f"`cwm games show {game.info.id}` prints a game as text."
    )


def film(game: YokaiGame, record: GameRecord, player: int | None = None, view: str | None = None) -> Film:
    """Draws a game, its deal left out.

    Args:
        game: the true game.
        record: how it was played.
        player: whose view is drawn below; None: in each position that of the player whose turn it is.
        view: which; None for the game's default.

    Raises:
        UsageError: there is no such player or view.
        RecordError: the record does not agree with the rules.
    """
    info = game.info
    shown = info.views[0] if view is None else view
    if shown not in info.views:
        raise UsageError(f"{info.id} has the views {', '.join(info.views)}, not {shown!r}.")
    if player is not None and not 0 <= player < info.num_players:
        raise UsageError(f"{info.id} has players 0 to {info.num_players - 1}, not {player}.")
    names = [
        f"player {seat}" if name in info.player_names else f"player {seat} ({name})"
        for seat, name in enumerate(record.seats)
    ]
    frames = []
    for state, note in _positions(game, record, names):
        seat = _whose_turn(state, info.num_players) if player is None else player
        frames.append(drawing.frame(game.config, state, seat, shown == "memory", names, note))
    return Film(info.id, drawing.canvas(game.config), tuple(frames))


def _positions(game: YokaiGame, record: GameRecord, names: list[str]) -> list[tuple[State, str | None]]:
    states = [(state, None) for state, player, _ in replay.states(game, record) if player != CHANCE]
    if not states:
        raise UsageError(f"The game of {record.game} stops before the cards are dealt: there is nothing to draw.")
    if record.forfeit is None:
        return [*states]
    forfeit = record.forfeit
    return [*states, (states[-1][0], f"{names[forfeit.seat]} forfeits: {forfeit.kind}.")]


def _whose_turn(state: State, players: int) -> int:
    """Returns the player to move; at the end the one that moved last."""
    if state["player"] is not None:
        return int(state["player"])
    return (len(state["log"]) - 1) // 4 % players
