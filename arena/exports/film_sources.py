"""Where games to be drawn come from: random play, files of trajectories, stored matches."""

from pathlib import Path

from arena.exports.film import require_drawing
from arena.matches import replay, store
from arena.matches.game_source import game_info, is_model, open_game
from arena.matches.match import GameRecord
from arena.matches.plan import TournamentConfig
from arena.matches.replay import RecordError
from arena.pipeline import matches as run_matches
from arena.usage import UsageError
from cwm.trajectories import files
from cwm.trajectories.recorded import Trajectory, game_seed, play, random_policy
from games import registry
from games.api import CHANCE, TERMINAL, Game, GameError
from games.yokai.game import YokaiGame


def load(source: str, index: int, seed: int) -> tuple[YokaiGame, GameRecord]:
    """Returns a game and how it was played.

    Args:
        source: id of a registered game, or cwm:PLACE, of which a random game is played; or a file of trajectories; or
            the folder of a tournament, or of a run with matches.
        index: number of the game: in the file, or among the stored games in order of their keys, or in the series of
            random games that `seed` begins.
        seed: of random games.

    Raises:
        UsageError: there is no such file or game in it, its actions break the rules, or it has no drawing.
        TrajectoryFormatError: the file breaks the schema.
        UnknownGameError: no game has that id.
        StoreError: the stored games cannot be read.
    """
    path = Path(source)
    if source not in registry.ids() and path.is_dir():
        return _stored(path, index)
    if source not in registry.ids() and (path.is_file() or path.suffix == ".jsonl"):
        return _recorded(path, index)
    if is_model(source):
        return _of_model(source, index, seed)
    game = require_drawing(registry.make(source))
    return game, _as_record(play(game, [random_policy] * game.info.num_players, game_seed(seed, index), index))


def _of_model(source: str, index: int, seed: int) -> tuple[YokaiGame, GameRecord]:
    """Plays a random game on a synthesised model; the game that it is a model of draws it."""
    info = game_info(source)
    if info.id not in registry.ids():
        raise UsageError(f"{info.id} has no drawing: only Yōkai is drawn; `cwm games show {source}` shows it as text.")
    game = require_drawing(registry.make(info.id))
    with open_game(source) as model:
        record = _as_record(play(model, [random_policy] * info.num_players, game_seed(seed, index), index))
    return game, _replayed(game, record, f"The model of {source} plays what {info.id} does not allow")


def _recorded(path: Path, index: int) -> tuple[YokaiGame, GameRecord]:
    games = {trajectory.index: trajectory for trajectory in files.read(path)}
    if index not in games:
        raise UsageError(
            f"{path} holds {_range(sorted(games))}, not game {index}; choose with the option `game_index`."
        )
    game = require_drawing(registry.make(games[index].game))
    return game, _replayed(game, _as_record(games[index]), f"Game {index} of {path} cannot be played again")


def _replayed(game: Game, record: GameRecord, fault: str) -> GameRecord:
    """Returns the record if its actions keep to the rules of the game; else the error begins with `fault`."""
    try:
        for _ in replay.states(game, record):
            pass
    except (RecordError, GameError) as error:
        raise UsageError(f"{fault}: {error}") from error
    return record


def _stored(folder: Path, index: int) -> tuple[YokaiGame, GameRecord]:
    matches = folder / run_matches.FOLDER
    stored = store.read(matches if (matches / store.FILE_NAME).exists() else folder)
    config = TournamentConfig.from_json(stored.config)
    game = require_drawing(registry.make(config.game, **config.params))
    games = [stored.games[key] for key in sorted(stored.games)]
    if not 0 <= index < len(games):
        raise UsageError(
            f"{folder} holds {_range(list(range(len(games))))}, not game {index}; choose with the option `game_index`."
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
