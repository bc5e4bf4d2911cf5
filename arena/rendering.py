"""Games to be drawn: where they come from, and what is drawn of each of their positions."""

from dataclasses import dataclass
from pathlib import Path

from arena import replay, run_matches, store
from arena.errors import UsageError
from arena.match import GameRecord
from arena.replay import RecordError
from arena.tournament import TournamentConfig
from cwm import trajectory_file
from cwm.trajectories import Trajectory, game_seed, play, random_policy
from games import registry
from games.api import CHANCE, TERMINAL, Game, GameError, State
from games.yokai import drawing
from games.yokai.drawing import Canvas, Frame
from games.yokai.game import YokaiGame


@dataclass(frozen=True)
class Film:
    """A game, drawn position by position.

    Attributes:
        name: of the game, for titles and files.
        canvas: what all frames share.
        frames: the game as it was dealt, then one frame after each action of a player.
    """

    name: str
    canvas: Canvas
    frames: tuple[Frame, ...]


def load(source: str, index: int, seed: int) -> tuple[Game, GameRecord]:
    """Returns a game and how it was played.

    Args:
        source: id of a registered game, of which a random game is played; or a file of trajectories; or the folder of
            a tournament, or of a run with matches.
        index: number of the game: in the file, or among the stored games in order of their keys, or in the series of
            random games that `seed` begins.
        seed: of random games.

    Raises:
        UsageError: there is no such file or game in it, or its actions break the rules.
        TrajectoryFormatError: the file breaks the schema.
        UnknownGameError: no game has that id.
        StoreError: the stored games cannot be read.
    """
    path = Path(source)
    if source not in registry.ids() and path.is_dir():
        return _stored(path, index)
    if source not in registry.ids() and (path.is_file() or path.suffix == ".jsonl"):
        return _recorded(path, index)
    game = registry.make(source)
    require_drawing(game)
    return game, _as_record(play(game, [random_policy] * game.info.num_players, game_seed(seed, index), index))


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
        raise UsageError(f"the game of {record.game} stops before the cards are dealt: there is nothing to draw.")
    if record.forfeit is None:
        return [*states]
    forfeit = record.forfeit
    return [*states[:-1], (states[-1][0], f"{names[forfeit.seat]} forfeits: {forfeit.kind}.")]


def _whose_turn(state: State, players: int) -> int:
    """Returns the player to move; at the end the one that moved last."""
    if state["player"] is not None:
        return int(state["player"])
    return (len(state["log"]) - 1) // 4 % players


def _recorded(path: Path, index: int) -> tuple[Game, GameRecord]:
    games = {trajectory.index: trajectory for trajectory in trajectory_file.read(path)}
    if index not in games:
        raise UsageError(f"{path} holds {_range(sorted(games))}, not game {index}; choose with --game-index.")
    game = registry.make(games[index].game)
    record = _as_record(games[index])
    try:
        for _ in replay.states(require_drawing(game), record):
            pass
    except (RecordError, GameError) as error:
        raise UsageError(f"Game {index} of {path} cannot be played again: {error}") from error
    return game, record


def _stored(folder: Path, index: int) -> tuple[Game, GameRecord]:
    matches = folder / run_matches.FOLDER
    stored = store.read(matches if (matches / store.FILE_NAME).exists() else folder)
    config = TournamentConfig.from_json(stored.config)
    game = registry.make(config.game, **config.params)
    require_drawing(game)
    games = [stored.games[key] for key in sorted(stored.games)]
    if not 0 <= index < len(games):
        raise UsageError(
            f"{folder} holds {_range(list(range(len(games))))}, not game {index}; choose with --game-index."
        )
    return game, games[index]


def _range(numbers: list[int]) -> str:
    if not numbers:
        return "no finished game"
    return f"game {numbers[0]} alone" if len(numbers) == 1 else f"games {numbers[0]} to {numbers[-1]}"


def _as_record(trajectory: Trajectory) -> GameRecord:
    actions = tuple((step.player, step.action) for step in trajectory.steps if step.action is not None)
    players = len(trajectory.player_names)
    return GameRecord(
        game=trajectory.game,
        deal_seed=0,
        seats=trajectory.player_names,
        actions=actions,
        paid=tuple(trajectory.returns),
        returns=tuple(trajectory.returns),
        outcome=None,
        forfeit=None,
        length=sum(player not in (CHANCE, TERMINAL) for player, _ in actions),
        fallbacks=({},) * players,
        model_errors=({},) * players,
        sandbox=None,
        seconds=((),) * players,
    )
