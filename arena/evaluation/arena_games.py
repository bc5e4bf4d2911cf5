"""Games that were played in the arena or by people, as training games: with every state, and what everybody saw."""

from dataclasses import replace
from pathlib import Path

from arena.matches import replay, store
from arena.matches.game_source import open_game
from arena.matches.match import GameRecord
from arena.matches.plan import TournamentConfig
from arena.matches.replay import RecordError
from arena.matches.verification import referee_of
from arena.usage import UsageError
from cwm.trajectories.recorded import Trajectory, record_step
from games.api import Game


def of_folder(folder: Path) -> list[Trajectory]:
    """Returns the finished games of a folder, played again through the rules that decided them, in order of their keys.

    A game that somebody forfeited is left out: it has no end by the rules.

    Args:
        folder: of a tournament, of a game of `cwm play`, of a cross-play, or of folders of these, all of one game.

    Raises:
        StoreError: there are no games, or the file is damaged.
        UsageError: none was played to its end.
        RecordError: a game does not agree with the rules.
        GameError: the game is unknown.
    """
    places = sorted(path.parent for path in folder.rglob(store.FILE_NAME)) or [folder]
    played = [trajectory for place in places for trajectory in _of_place(place)]
    if not played:
        raise UsageError(f"{folder} holds no game that was played to its end.")
    names = sorted({trajectory.game for trajectory in played})
    if len(names) > 1:
        raise UsageError(f"{folder} holds games of {', '.join(names)}: name the folder of one of them.")
    return [replace(trajectory, index=index) for index, trajectory in enumerate(played)]


def _of_place(place: Path) -> list[Trajectory]:
    stored = store.read(place)
    config = TournamentConfig.from_json(stored.config)
    name = config.game if config.referee is None else referee_of(place)
    with open_game(name, config.referee, **config.params) as game:
        records = (stored.games[key] for key in sorted(stored.games))
        return [_as_trajectory(game, record) for record in records if record.forfeit is None]


def _as_trajectory(game: Game, record: GameRecord) -> Trajectory:
    steps = tuple(record_step(game, state, action) for state, _, action in replay.states(game, record))
    if steps[-1].player >= 0:
        raise RecordError(f"the record of {record.game} ends before the game does.")
    return Trajectory(game.info.id, 0, None, game.info.player_names, steps)
