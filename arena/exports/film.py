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
from games.yokai.grid import grid
from games.yokai.scoring import outcome


@dataclass(frozen=True)
class Film:
    """A game, drawn position by position.

    Attributes:
        name: of the game, for titles and files.
        canvas: what all frames share.
        frames: the game as it was dealt, then one frame after each action of a player, then one if it was forfeited.
        views: of each frame what each seat sees: the group `view` of its drawing, marked with the seat.
        score: how the return at the end came about: (what, points), the sum last; () if the game was not finished.
        seat: whose view `frames` show; None for that of the player whose turn it is.
    """

    name: str
    canvas: Canvas
    frames: tuple[Frame, ...]
    views: tuple[tuple[str, ...], ...] = ()
    score: tuple[tuple[str, int], ...] = ()
    seat: int | None = None


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
    frames, views = [], []
    positions = _positions(game, record, names)
    for state, note in positions:
        turn = _whose_turn(state, info.num_players) if player is None else player
        seen = [
            drawing.frame(game.config, state, seat, shown == "memory", names, note) for seat in range(info.num_players)
        ]
        frames.append(seen[turn])
        views.append(tuple(_view(frame, seat) for seat, frame in enumerate(seen)))
    score = () if record.forfeit is not None else breakdown(game, positions[-1][0])
    return Film(info.id, drawing.canvas(game.config), tuple(frames), tuple(views), score, player)


def breakdown(game: YokaiGame, state: State) -> tuple[tuple[str, int], ...]:
    """Returns how the return of a finished game came about: (what, points), the sum last; () before its end."""
    found = outcome(grid(game.config.grid), state, len(game.config.colours))
    if not found["over"]:
        return ()
    wrong = ("hints placed wrong, 1 off each", -found["wrong"])
    if found["won"]:
        rows = [
            ("hints never revealed, 5 each", 5 * found["face_down"]),
            ("hints revealed and not placed, 2 each", 2 * found["face_up"]),
            ("hints placed right, 1 each", found["correct"]),
            wrong,
        ]
    else:
        apart = found["grouped_colours"] - len(game.config.colours)
        rows = [("ended by a player, 1 off", -int(found["ended_early"])), ("colours apart, 1 off each", apart), wrong]
    return (*rows, ("score" if found["won"] else "return", sum(points for _, points in rows)))


def _view(frame: Frame, seat: int) -> str:
    """Returns the group of a drawing that shows what a seat sees."""
    start = '<g class="view"'
    return frame.body[frame.body.index(start) :].replace(start, f'{start} data-seat="{seat}"', 1)


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
