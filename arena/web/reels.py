"""Stored games, frame by frame: a long one is gone along in windows, from places that were kept on the way."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from arena.matches.replay import RecordError
from arena.web import sight
from cwm.trajectories.recorded import Trajectory
from games.api import CHANCE, TERMINAL, Action, Game, GameError, IllegalActionError, State, observe, state_to_json

WINDOW: Final = 64
"""Frames at a time, and how far apart the kept places are."""
TRUTH: Final = "truth"


@dataclass(frozen=True)
class Credits:
    """What is fixed about a stored game.

    Attributes:
        game: its id.
        names: of the players, by seat.
        end: what it came to, a line each.
    """

    game: str
    names: tuple[str, ...]
    end: tuple[str, ...]


class Reel(Protocol):
    """A game, frame by frame; frame 0 is its beginning."""

    credits: Credits

    @property
    def length(self) -> int: ...

    @property
    def views(self) -> list[str]: ...

    def frames(self, first: int, views: Sequence[str]) -> list[dict[str, Any]]:
        """Returns at most `WINDOW` frames.

        Args:
            first: number of the first one.
            views: what to show in each: `truth`, or seat and view, e.g. `0.default`; unknown ones are left out.

        Raises:
            RecordError: the game is not one by the rules.
        """
        ...

    def close(self) -> None: ...


class Replayed:
    """A game that is played again through its rules.

    Args:
        game: the true game.
        actions: (player, action) in order, chance's too.
        told: what is fixed about it.
        done: called when nobody looks at it any more.
        thoughts: by number of the action, as text, what its player had considered, as the game kept it.
    """

    def __init__(
        self,
        game: Game,
        actions: Sequence[tuple[int, Action]],
        told: Credits,
        done: Callable[[], object] = lambda: None,
        thoughts: Mapping[str, Any] | None = None,
    ) -> None:
        self.credits = told
        self._done = done
        # A record that others made may hold anything here.
        self._thoughts = thoughts if isinstance(thoughts, Mapping) else {}
        self._game = game
        self._actions = actions
        self._kept: list[State] = [game.initial_state()]
        self._lock = threading.Lock()

    def close(self) -> None:
        """Ends the game's worker, if it has one."""
        self._done()

    @property
    def length(self) -> int:
        return len(self._actions) + 1

    @property
    def views(self) -> list[str]:
        info = self._game.info
        return [TRUTH, *(f"{seat}.{view}" for view in info.views for seat in range(info.num_players))]

    def frames(self, first: int, views: Sequence[str]) -> list[dict[str, Any]]:
        """Returns a window of frames; see `Reel.frames`."""
        known = [view for view in self.views if view in views]
        with self._lock:
            last = min(self.length, first + WINDOW)
            return [self._frame(number, state, known) for number, state in self._walk(last) if number >= first]

    def _walk(self, last: int) -> Iterator[tuple[int, State]]:
        """Yields the states up to `last` from the nearest kept place that is a whole window before it."""
        begin = min(len(self._kept) - 1, max(0, last - WINDOW) // WINDOW)
        state = self._kept[begin]
        for number in range(begin * WINDOW, last):
            if number > begin * WINDOW:
                state = self._next(number - 1, state)
                if number % WINDOW == 0 and number // WINDOW == len(self._kept):
                    self._kept.append(state)
            yield number, state

    def _next(self, number: int, state: State) -> State:
        player, action = self._actions[number]
        mover = self._game.current_player(state)
        if mover != player or action not in self._game.legal_actions(state):
            raise RecordError(f"action {number} of {self.credits.game}, {action!r} by player {player}, is not legal.")
        try:
            return self._game.apply_action(state, action)
        except IllegalActionError as error:
            raise RecordError(f"action {number} of {self.credits.game} was refused: {error}") from error

    def _frame(self, number: int, state: State, views: Sequence[str]) -> dict[str, Any]:
        game, names = self._game, self.credits.names
        shown = {}
        for name in views:
            if name == TRUTH:
                found = sight.whole(game, state, 0, names)
                shown[name] = found | {"observation": state_to_json(game, state)}
            else:
                seat, _, view = name.partition(".")
                shown[name] = sight.seen(game, state, int(seat), view, names)
        done = self._actions[number - 1] if number else None
        found = _frame(number, done, game.current_player(state), names, shown)
        thought = self._thoughts.get(str(number))
        if thought is None:
            return found
        # A game may end with a decision that was no legal move.
        return found | {"thought": thought, "next": self._actions[number][1] if number < len(self._actions) else None}


class Recorded:
    """A game whose observations were recorded: nothing of it is played again.

    Args:
        trajectory: the game.
        told: what is fixed about it.
    """

    def __init__(self, trajectory: Trajectory, told: Credits) -> None:
        self.credits = told
        self._steps = trajectory.steps
        self._seats = range(len(trajectory.player_names)) if trajectory.seat is None else [trajectory.seat]

    @property
    def length(self) -> int:
        return len(self._steps)

    @property
    def views(self) -> list[str]:
        return [TRUTH, *(f"{seat}.recorded" for seat in self._seats)]

    def frames(self, first: int, views: Sequence[str]) -> list[dict[str, Any]]:
        """Returns a window of frames; see `Reel.frames`."""
        known = [view for view in self.views if view in views]
        found = []
        for number, step in list(enumerate(self._steps))[first : first + WINDOW]:
            shown = {
                name: {"observation": step.state if name == TRUTH else step.observations[int(name.partition(".")[0])]}
                for name in known
            }
            before = self._steps[number - 1] if number else None
            done = None if before is None or before.action is None else (before.player, before.action)
            found.append(_frame(number, done, step.player, self.credits.names, shown))
        return found

    def close(self) -> None:
        pass


def of_trajectory(trajectory: Trajectory, game: Game | None, told: Credits) -> Reel:
    """Returns a recorded game: played again where the rules are known and agree with it, else as it was recorded.

    Args:
        trajectory: the game.
        game: of its id, None if nobody knows it.
        told: what is fixed about it.
    """
    recorded = Recorded(trajectory, told)
    if game is None or len(trajectory.steps) > WINDOW * 8:
        return recorded
    actions = [(step.player, step.action) for step in trajectory.steps if step.action is not None]
    replayed = Replayed(game, actions, told)
    try:
        for first in range(0, replayed.length, WINDOW):
            replayed.frames(first, ())
        state = game.initial_state()
        for step in trajectory.steps:
            for seat, seen in enumerate(step.observations):
                if seen and seen != observe(game, state, seat, game.info.views[0]):
                    return recorded
            state = state if step.action is None else game.apply_action(state, step.action)
    except (RecordError, GameError, LookupError):
        return recorded
    return replayed


def _frame(
    number: int, done: tuple[int, Action] | None, mover: int, names: Sequence[str], shown: dict[str, Any]
) -> dict[str, Any]:
    return {
        "number": number,
        "who": None if done is None else _name(done[0], names),
        "action": None if done is None else done[1],
        "mover": None if mover == TERMINAL else _name(mover, names),
        "seat": mover,
        "views": shown,
    }


def _name(player: int, names: Sequence[str]) -> str:
    return "chance" if player == CHANCE else names[player] if 0 <= player < len(names) else f"player {player}"
