"""Opens what lies on the shelf: stored games as reels, a few at a time."""

import threading
from collections import OrderedDict
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from typing import Any, Final

from arena.language_players.turn_record import thoughts
from arena.matches import store, verification
from arena.matches.game_source import open_game
from arena.matches.match import GameRecord
from arena.matches.plan import TournamentConfig
from arena.usage import UsageError
from arena.web.reels import Credits, Reel, Replayed, of_trajectory
from arena.web.shelf import Found
from cwm.trajectories import files
from cwm.trajectories.recorded import Trajectory
from games import registry
from games.own_code import PREFIX

MOST_OPEN: Final = 6
"""Games that are looked at side by side; others are opened anew."""
MOST_BYTES: Final = 300 * 2**20
PAGE: Final = 200
"""Games of a list."""


class Stock:
    """Stored games by key and number.

    Args:
        own: games of the user's own code that he named: no others are imported, whatever a file says.
    """

    def __init__(self, own: Collection[str]) -> None:
        self._own = {registry.absolute(name) for name in own}
        self._reels: OrderedDict[tuple[str, int, float], Reel] = OrderedDict()
        self._files: OrderedDict[tuple[str, float], Sequence[Trajectory]] = OrderedDict()
        self._lock = threading.RLock()

    def listed(self, found: Found, first: int) -> dict[str, Any]:
        """Returns the games of a place, `PAGE` at a time.

        Raises:
            StoreError: the stored games cannot be read.
            TrajectoryFormatError: the file breaks the schema.
            UsageError: the file is too large.
        """
        with self._lock:
            if found.kind == "games":
                stored = store.read(found.path)
                games = [stored.games[key] for key in sorted(stored.games)]
                rows = [{"names": list(game.seats), "steps": len(game.actions), "end": _end(game)} for game in games]
            else:
                rows = [
                    {"names": list(game.player_names), "steps": len(game.steps) - 1, "end": f"{game.returns}"}
                    for game in self._trajectories(found)
                ]
        numbered = [{"number": number, **row} for number, row in enumerate(rows)]
        return {"title": found.title, "total": len(rows), "games": numbered[first : first + PAGE]}

    def reel(self, found: Found, number: int) -> Reel | None:
        """Returns a game, None if there is no such number; errors as for `listed`, and as `open_game` raises."""
        with self._lock:
            key = (found.key, number, found.changed)
            if key not in self._reels:
                made = self._stored(found, number) if found.kind == "games" else self._recorded(found, number)
                if made is None:
                    return None
                self._reels[key] = made
                while len(self._reels) > MOST_OPEN:
                    self._reels.popitem(last=False)[1].close()
            self._reels.move_to_end(key)
            return self._reels[key]

    def close(self) -> None:
        """Ends what was opened."""
        with self._lock:
            while self._reels:
                self._reels.popitem()[1].close()

    def _stored(self, found: Found, number: int) -> Reel | None:
        stored = store.read(found.path)
        if not 0 <= number < len(stored.games):
            return None
        record = stored.games[sorted(stored.games)[number]]
        config = TournamentConfig.from_json(stored.config)
        name = config.game if config.referee is None else verification.referee_of(found.path)
        if PREFIX in name and registry.absolute(name) not in self._own:
            raise UsageError(
                f"These games are of {name}, code that is run only if you name it: start the server with it, too."
            )
        stack = ExitStack()
        game = stack.enter_context(open_game(name, config.referee, **config.params))
        names = tuple(f"{game.info.player_name(seat)} ({name})" for seat, name in enumerate(record.seats))
        told = Credits(game.info.id, names, (_end(record),))
        considered = thoughts(record.actions, record.accounts) | dict(record.thoughts)
        return Replayed(game, record.actions, told, stack.close, considered)

    def _recorded(self, found: Found, number: int) -> Reel | None:
        games = self._trajectories(found)
        if not 0 <= number < len(games):
            return None
        trajectory = games[number]
        game = registry.make(trajectory.game) if registry.knows(trajectory.game) else None
        returns = ", ".join(f"{value:g}" for value in trajectory.returns)
        return of_trajectory(
            trajectory, game, Credits(trajectory.game, trajectory.player_names, (f"returns: {returns}",))
        )

    def _trajectories(self, found: Found) -> Sequence[Trajectory]:
        key = (found.key, found.changed)
        if key not in self._files:
            size = found.path.stat().st_size
            if size > MOST_BYTES:
                raise UsageError(
                    f"{found.title} has {size / 2**20:,.0f} MiB; files of up to {MOST_BYTES / 2**20:,.0f} are shown."
                )
            self._files[key] = files.read(found.path, "closed")
            while len(self._files) > 2:
                self._files.popitem(last=False)
        return self._files[key]


def _end(game: GameRecord) -> str:
    if game.forfeit is not None:
        fault = game.forfeit
        return f"forfeited by seat {fault.seat}: {fault.kind}: {fault.detail}"
    return "returns: " + ", ".join(f"{value:g}" for value in game.returns)
