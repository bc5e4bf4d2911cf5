"""Tells at which decision points more than one history, or state, is known to fit what the player saw and did."""

import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Protocol, runtime_checkable

from cwm.trajectories.recorded import Trajectory
from games.api import Game, ObsActionHistory, ResamplesHistory, state_to_json

REFERENCE_DRAWS = 20


@runtime_checkable
class ReferenceGame(Game, ResamplesHistory, Protocol):
    """The true game, with its own inference function."""


class SeveralHistories:
    """Evidence that a decision point does not give away the whole history.

    Two recorded games in which a player saw and did the same, but which differ, prove it. So does a reference
    resampler that draws two histories. Without either nothing is claimed, so that no right program is rejected.
    """

    def __init__(self, trajectories: Iterable[Trajectory], reference: ResamplesHistory | None = None) -> None:
        """Args:
        trajectories: recorded games.
        reference: draws histories on the true game, where there is one.
        """
        self._reference = reference
        # Digests: as text, the histories of a long game take a thousand times as much memory as the game.
        self._recorded: dict[bytes, set[bytes]] = defaultdict(set)
        for trajectory in trajectories:
            for end, step in enumerate(trajectory.steps):
                if step.player >= 0:
                    key = _key(trajectory.history(step.player, end), step.player)
                    self._recorded[_digest(key)].add(_digest(self._recorded_one(trajectory, end)))

    def fit(self, history: ObsActionHistory, player: int) -> bool:
        """Returns True if at least two are known to lead to the player's own `history`."""
        key = _key(history, player)
        if len(self._recorded.get(_digest(key), ())) > 1:
            return True
        return self._reference is not None and self._draws_two(self._reference, history, player, key)

    def _draws_two(self, reference: ResamplesHistory, history: ObsActionHistory, player: int, key: str) -> bool:
        rng = random.Random(f"several/{key}")
        first = self._drawn_one(reference, history, player, rng)
        draws = (self._drawn_one(reference, history, player, rng) for _ in range(REFERENCE_DRAWS - 1))
        return any(drawn != first for drawn in draws)

    def _recorded_one(self, trajectory: Trajectory, end: int) -> str:
        return json.dumps([earlier.action for earlier in trajectory.steps[:end]])

    def _drawn_one(
        self, reference: ResamplesHistory, history: ObsActionHistory, player: int, rng: random.Random
    ) -> Any:
        return reference.resample_history(history, player, rng)


class SeveralStates(SeveralHistories):
    """Evidence that a decision point does not give away the whole state; different histories may lead to one.

    A reference counts if it is the true game, on which its histories can be replayed.
    """

    def __init__(self, trajectories: Iterable[Trajectory], reference: ResamplesHistory | None = None) -> None:
        """Args:
        trajectories: recorded games with their states.
        reference: draws histories on the true game, where there is one.
        """
        super().__init__(trajectories, reference if isinstance(reference, ReferenceGame) else None)

    def _recorded_one(self, trajectory: Trajectory, end: int) -> str:
        return json.dumps(trajectory.steps[end].state, sort_keys=True)

    def _drawn_one(
        self, reference: ResamplesHistory, history: ObsActionHistory, player: int, rng: random.Random
    ) -> Any:
        assert isinstance(reference, ReferenceGame)
        state = reference.initial_state()
        for action in reference.resample_history(history, player, rng):
            state = reference.apply_action(state, action)
        return state_to_json(reference, state)


def _key(history: ObsActionHistory, player: int) -> str:
    return json.dumps([player, [list(pair) for pair in history]], sort_keys=True)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
