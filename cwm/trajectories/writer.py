"""Writes games that a script of the user's own plays, step by step, in the format of `cwm/TRAJECTORIES.md`."""

import json
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from cwm.trajectories import files
from cwm.trajectories.recorded import FORMAT_VERSION, TrajectoryFormatError, write_records
from games.api import CHANCE, TERMINAL, Action, Json


class TrajectoryWriter:
    """A file of games that grows step by step; a context manager.

    Each game is checked as it ends, and the file is written whole when the last one has, so that it is never half a
    game. Where the script fails, nothing is written.

    Examples:
        >>> with TrajectoryWriter("games.jsonl", "coin", ["caller", "tosser"]) as games:
        ...     games.chance({"coin": None}, [{}, {}], [("heads", 0.5), ("tails", 0.5)], "heads")
        ...     games.move({"coin": "heads"}, 0, [{}, {"coin": "heads"}], ["heads", "tails"], "heads")
        ...     games.end({"coin": "heads"}, [{"coin": "heads"}, {"coin": "heads"}], rewards=[1, -1])
    """

    def __init__(self, path: Path | str, game: str, player_names: Sequence[str]) -> None:
        """Args:
        path: file to write; compressed where its name ends in .gz.
        game: the game's name.
        player_names: one a player.
        """
        self.path = Path(path)
        self._game = game
        self._names = list(player_names)
        self._finished: list[dict[str, Any]] = []
        self._steps: list[dict[str, Any]] = []
        self._games = 0

    def move(
        self,
        state: Json,
        player: int,
        observations: Sequence[Json],
        legal_actions: Sequence[Action],
        action: Action,
        rewards: Sequence[float] | None = None,
    ) -> None:
        """Adds a state and what a player did there.

        Args:
            state: the whole state, hidden parts included; every game begins with the same one.
            player: who moves, from 0.
            observations: what each player sees here.
            legal_actions: what could be done.
            action: what was done.
            rewards: what the action before paid, one a player; None for nothing.
        """
        self._add(state, player, observations, legal_actions, action, rewards)

    def chance(
        self,
        state: Json,
        observations: Sequence[Json],
        outcomes: Sequence[tuple[Action, float]],
        action: Action,
        rewards: Sequence[float] | None = None,
    ) -> None:
        """Adds a state at which chance acts.

        Args:
            state: see `move`.
            observations: see `move`.
            outcomes: every action of chance with its probability.
            action: what came.
            rewards: see `move`.
        """
        names = [name for name, _ in outcomes]
        self._add(state, CHANCE, observations, names, action, rewards, [list(item) for item in outcomes])

    def end(self, state: Json, observations: Sequence[Json], rewards: Sequence[float] | None = None) -> None:
        """Ends a game with its last state; the next step begins another game.

        Raises:
            TrajectoryFormatError: a step of the game breaks the format; every problem is named with its step.
        """
        self._add(state, TERMINAL, observations, [], None, rewards)
        steps, self._steps = self._steps, []
        # The problems of a game's own lines; what is between games is checked with the file.
        problems = files.problems_of([{**step, "trajectory": 0} for step in steps])
        if problems:
            shown = "; ".join(problem.replace("line ", "step ", 1) for problem in problems[:SHOWN])
            raise TrajectoryFormatError(
                f"Game {self._games} of {self.path} breaks the format (step 1 is its first): {shown}."
            )
        self._finished += steps
        self._games += 1

    def close(self) -> None:
        """Writes the file.

        Raises:
            TrajectoryFormatError: a game was not ended, there is none, or the games do not go together.
            OSError: the file cannot be written.
        """
        if self._steps:
            raise TrajectoryFormatError(
                f"Game {self._games} of {self.path} was not ended: call `end` with its last state."
            )
        problems = files.problems_of(self._finished)
        if problems:
            raise TrajectoryFormatError(f"{self.path} is not written: {'; '.join(problems[:SHOWN])}.")
        write_records(self.path, self._finished)

    def _add(
        self,
        state: Json,
        player: int,
        observations: Sequence[Json],
        legal_actions: Sequence[Action],
        action: Action | None,
        rewards: Sequence[float] | None,
        chance: Sequence[Sequence[Any]] = (),
    ) -> None:
        step: dict[str, Any] = {
            "version": FORMAT_VERSION,
            "game": self._game,
            "trajectory": self._games,
            "step": len(self._steps),
            "player": player,
            "action": action,
            "state": state,
            "observations": list(observations),
            "legal_actions": list(legal_actions),
            "chance": list(chance),
            "rewards": [0.0] * len(self._names) if rewards is None else list(rewards),
        }
        if not self._steps:
            step["player_names"] = self._names
        # As it is now: scripts go on with the same objects.
        self._steps.append(json.loads(json.dumps(step)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()


SHOWN = 5
"""Problems that one error names."""
