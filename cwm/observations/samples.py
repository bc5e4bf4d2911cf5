"""What players saw of recorded games: from it is learned how observations become vectors."""

import json
from collections.abc import Sequence
from typing import Final, TypeAlias

from cwm.trajectories.recorded import Deck, Trajectory, view
from games.api import Observation

Sample: TypeAlias = tuple[int, Observation]
"""A player and what it saw."""

MAX_CHECKED: Final = 2_000
"""So many different observations are put to a program at most."""


def samples_of(trajectories: Sequence[Trajectory], deck: Deck = "open") -> list[Sample]:
    """Returns what the players saw of recorded games; in the closed deck, what one player saw of each."""
    if deck == "open":
        return [seen for game in trajectories for step in game.steps for seen in enumerate(step.observations)]
    samples: list[Sample] = []
    for game in trajectories:
        seen = view(game)
        samples += [(seen.player, observation) for observation, _ in seen.decisions]
        samples.append((seen.player, seen.final_observation))
    return samples


def distinct(samples: Sequence[Sample], most: int = MAX_CHECKED) -> list[Sample]:
    """Returns different samples in their order, spread evenly where there are more than `most`."""
    different = list({json.dumps(sample, sort_keys=True): sample for sample in samples}.values())
    if len(different) <= most:
        return different
    return [different[place * len(different) // most] for place in range(most)]
