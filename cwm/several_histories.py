"""Tells at which decision points more than one history is known to fit what the player saw and did."""

import json
import random
from collections import defaultdict
from collections.abc import Iterable

from cwm.trajectories import Trajectory
from games.api import ObsActionHistory, ResamplesHistory

REFERENCE_DRAWS = 20


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
        self._recorded: dict[str, set[str]] = defaultdict(set)
        for trajectory in trajectories:
            for end, step in enumerate(trajectory.steps):
                if step.player >= 0:
                    actions = [earlier.action for earlier in trajectory.steps[:end]]
                    key = _key(trajectory.history(step.player, end), step.player)
                    self._recorded[key].add(json.dumps(actions))

    def fit(self, history: ObsActionHistory, player: int) -> bool:
        """Returns True if at least two histories are known to lead to the player's own `history`."""
        key = _key(history, player)
        if len(self._recorded[key]) > 1:
            return True
        return self._reference is not None and self._draws_two(self._reference, history, player, key)

    def _draws_two(self, reference: ResamplesHistory, history: ObsActionHistory, player: int, key: str) -> bool:
        rng = random.Random(f"several/{key}")
        first = reference.resample_history(history, player, rng)
        return any(reference.resample_history(history, player, rng) != first for _ in range(REFERENCE_DRAWS - 1))


def _key(history: ObsActionHistory, player: int) -> str:
    return json.dumps([player, [list(pair) for pair in history]], sort_keys=True)
