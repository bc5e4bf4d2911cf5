"""Drivers that take a shortest way and stop for others: A0 to A100 of the POSGGym paper's populations (appendix A.2).

The number says how daring a driver is, in hundredths: it stops for a vehicle in its view that is at most
⌈(1 - daring) · reach⌉ cells away, columns and rows added, where `reach` is how far the view goes at most. So A0 stops
for nearly all that it sees, A100 for none. The shortest way is that of the fewest actions; all first actions of
one are equally likely. A driver below A50 never drives at full speed.

POSGGym 0.6.0 orders poses otherwise: by its own distances (up to thirty actions too many) its drivers take longer ways
than they need, which bear on when they meet. Drivers here do what the paper says, so that their payoffs differ from
the published ones, most where both are daring: A60 beside A60 gets 0.2 where 0.55 is published.
"""

from collections import deque
from collections.abc import Mapping
from functools import cache
from math import ceil
from typing import Final, TypeAlias

from games.posg.driving.model import Driving
from games.posg.driving.roads import ACTIONS, VEHICLE, Roads, Seen, heading_after
from games.posg.policies import DrawnPolicy, at_the_table, evenly

Remembered: TypeAlias = tuple[int, int, bool] | None
"""Own pose and destination, and whether somebody is too near; None before the start."""

DARING: Final = (0, 40, 60, 80, 100)
FULL: Final = 3
"""In a pose: full speed."""


class ShortestWay(DrawnPolicy):
    """A driver of some daring."""

    def __init__(self, model: Driving, daring: int) -> None:
        """Args:
        model: with one map.
        daring: in hundredths.
        """
        self._roads = model.roads()
        ahead, behind, side = model.view
        reach = max(ahead, behind, side)
        self.near = ceil((100 - daring) * reach / 100)
        self._across = 2 * side + 1
        self._own = ahead * self._across + side
        self._slow = daring < 50
        self._chances = cache(self._worked_out)
        self._actions_to_go = cache(self._found)

    def start(self, agent: int) -> Remembered:
        return None

    def update(self, memory: Remembered, action: str | None, observation: Seen) -> Remembered:
        """Returns the own pose, whose heading follows from the actions, and whether somebody is too near."""
        view, speed, cell, end, _, _ = observation
        heading = 0 if memory is None else memory[0] >> 2 & 3
        if memory is not None and action is not None:
            heading = heading_after(ACTIONS.index(action), memory[0])
        pose = (cell * 4 + heading) * 4 + speed + 1
        return pose, self._roads.ends.index(end), self.distance(view) <= self.near

    def chances(self, memory: Remembered) -> Mapping[str, float]:
        assert memory is not None, "a policy acts after it was told something"
        return self._chances(memory)

    def distance(self, view: str) -> int:
        """Returns how far the nearest other vehicle of a view is."""
        own_row, own_column = divmod(self._own, self._across)
        found = [
            divmod(place, self._across) for place, sign in enumerate(view) if sign == VEHICLE and place != self._own
        ]
        return min((abs(row - own_row) + abs(column - own_column) for row, column in found), default=len(view))

    def _worked_out(self, memory: tuple[int, int, bool]) -> Mapping[str, float]:
        pose, end, is_near = memory
        if is_near:
            return {("accelerate", "wait", "brake", "brake")[pose & 3]: 1.0}
        to_go = self._actions_to_go(end)
        after = [self._after(action, pose) for action in range(5)]
        best = min(to_go[there] for there in after)
        return evenly([action for action, there in zip(ACTIONS, after, strict=True) if to_go[there] == best])

    def _after(self, action: int, pose: int) -> int:
        """Returns the next pose, but no faster than the driver likes."""
        there = self._roads.after[action][pose]
        return pose if self._slow and there & 3 == FULL and pose & 3 != FULL else there

    def _found(self, end: int) -> list[int]:
        """Returns by pose the number of actions to a destination."""
        return actions_to(self._roads, self._roads.ends[end], self._slow)


def actions_to(roads: Roads, cell: int, is_slow: bool) -> list[int]:
    """Returns by pose the least number of actions after which a vehicle is in a cell.

    Args:
        roads: of the map.
        cell: where it shall be.
        is_slow: whether it never drives at full speed.
    """
    size = len(roads.after[0])
    before: dict[int, list[int]] = {}
    for after in roads.after:
        for pose in range(size):
            if not (is_slow and after[pose] & 3 == FULL):
                before.setdefault(after[pose], []).append(pose)
    to_go = [size] * size
    waiting = deque(range(cell * 16, cell * 16 + 16))
    for pose in waiting:
        to_go[pose] = 0
    while waiting:
        pose = waiting.popleft()
        for earlier in before.get(pose, ()):
            if to_go[earlier] == size:
                to_go[earlier] = to_go[pose] + 1
                waiting.append(earlier)
    return to_go


def policies(model: Driving) -> Mapping[str, ShortestWay]:
    """Returns A0 to A100 on a model, by name."""
    return {f"A{daring}": ShortestWay(model, daring) for daring in DARING}


_MODEL: Final = Driving()
PARTNERS: Final = {
    name: at_the_table(policy, _MODEL.observation_from_json) for name, policy in policies(_MODEL).items()
}
"""Every partner by name."""
ONLY: Final = dict.fromkeys(PARTNERS, ("driving",))
"""A driver has to know its map."""
