"""Hunters: H1 to H3 of the POSGGym paper's populations (appendix A.2).

H1 and H2 go for the closest prey in view, else for the closest predator in view, else H1 walks at random and H2
circles. H3 goes for the prey in view that is closest to the predator closest to it (to itself, where it sees no other),
else it circles. Who circles begins to the left, along the lower border to the right, and turns clockwise where a wall
is less than two cells ahead. One step in twenty is any of those that they would not take.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

from games.posg.policies import DrawnPolicy, at_the_table, evenly
from games.posg.predator_prey.model import ACROSS, ACTIONS, PREDATOR, QUARRY, SIGHT, WALL, PredatorPrey

Remembered: TypeAlias = tuple[str, int]
"""What was told last, and the way in which it circles, a number in `CIRCLE`; -1 before it began."""
Offset: TypeAlias = tuple[int, int]
"""How far right and how far down."""

SLIP: Final = 0.05
CIRCLE: Final = (("left", (-1, 0)), ("up", (0, -1)), ("right", (1, 0)), ("down", (0, 1)))
STEPS: Final = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
_MIDDLE: Final = SIGHT * ACROSS + SIGHT


class Hunter(DrawnPolicy):
    """A hunter of one kind."""

    def __init__(self, follows: bool, circles: bool) -> None:
        """Args:
        follows: whether it goes for a predator where it sees no prey, and not by other predators for prey.
        circles: where there is nothing to go for.
        """
        self.follows, self.circles = follows, circles
        self._chances = lru_cache(maxsize=100_000)(self._worked_out)

    def start(self, agent: int) -> Remembered:
        return "", -1

    def update(self, memory: Remembered, action: str | None, observation: str) -> Remembered:
        """Returns what was told, and the way on if there is nothing to go for."""
        heading = memory[1]
        if self.circles and not self._target(observation):
            if heading < 0:
                heading = 2 if _is_wall(observation, CIRCLE[3][1]) and not _is_wall(observation, CIRCLE[2][1]) else 0
            for _ in CIRCLE:
                if not _is_wall(observation, CIRCLE[heading][1]):
                    break
                heading = (heading + 1) % len(CIRCLE)
        return observation, heading

    def chances(self, memory: Remembered) -> Mapping[str, float]:
        return self._chances(memory)

    def _target(self, told: str) -> list[Offset]:
        """Returns what to go for, [] if there is nothing."""
        prey = [_offset(place) for place, sign in enumerate(told) if sign == QUARRY]
        predators = [_offset(place) for place, sign in enumerate(told) if sign == PREDATOR and place != _MIDDLE]
        if not self.follows and prey and predators:
            other = min(predators, key=_far)
            return [min(prey, key=lambda one: (_far((one[0] - other[0], one[1] - other[1])), _far(one)))]
        return sorted(prey or (predators if self.follows else []), key=_far)[:1]

    def _worked_out(self, memory: Remembered) -> Mapping[str, float]:
        told, heading = memory
        target = self._target(told)
        if target:
            near = _far(target[0])
            wanted = [name for name, (right, down) in STEPS.items() if _far(_less(target[0], (right, down))) < near]
        elif self.circles:
            wanted = [CIRCLE[heading][0]]
        else:
            return evenly(ACTIONS)
        return _slipping(wanted)


def _slipping(wanted: Sequence[str]) -> Mapping[str, float]:
    others = len(ACTIONS) - len(wanted)
    return {action: (1.0 - SLIP) / len(wanted) if action in wanted else SLIP / others for action in ACTIONS}


def _offset(place: int) -> Offset:
    return place % ACROSS - SIGHT, place // ACROSS - SIGHT


def _less(one: Offset, other: Offset) -> Offset:
    return one[0] - other[0], one[1] - other[1]


def _far(offset: Offset) -> int:
    return abs(offset[0]) + abs(offset[1])


def _is_wall(told: str, way: Offset) -> bool:
    """Returns whether a wall is less than two cells away in a direction."""
    return told[_MIDDLE + SIGHT * (way[0] + ACROSS * way[1])] == WALL


def policies(model: PredatorPrey) -> Mapping[str, Hunter]:
    """Returns H1 to H3, by name; they know nothing of the model."""
    return {"H1": Hunter(True, False), "H2": Hunter(True, True), "H3": Hunter(False, True)}


_MODEL: Final = PredatorPrey()
PARTNERS: Final = {
    name: at_the_table(policy, _MODEL.observation_from_json) for name, policy in policies(_MODEL).items()
}
"""Every partner by name."""
