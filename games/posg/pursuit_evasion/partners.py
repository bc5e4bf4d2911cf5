"""Walkers on shortest ways: `shortest-path` of POSGGym's policies.

The evader takes a shortest way to its goal. The pursuer takes one to where the evader started, then to the closest cell
in which an evader may start or want to go and where it has not been, and so on; then it begins anew. First steps of
shortest ways are equally likely. Neither minds what it sees or hears.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

from games.posg.policies import DrawnPolicy, PosgPolicy, at_the_table, evenly
from games.posg.pursuit_evasion.maze import ACTIONS
from games.posg.pursuit_evasion.model import EVADER, Noticed, PursuitEvasion

Remembered: TypeAlias = tuple[int, int, int, tuple[int, ...]]
"""Agent, own pose (-1 before the start), cell to go to, and the cells where a pursuer has been to look."""


class ShortestPath(DrawnPolicy):
    """A walker; it works out where it is from its own actions."""

    def __init__(self, model: PursuitEvasion) -> None:
        self._maze = model.maze
        self._chances: dict[tuple[int, int], Mapping[str, float]] = {}

    def start(self, agent: int) -> Remembered:
        return agent, -1, -1, ()

    def update(self, memory: Remembered, action: str | None, observation: Noticed) -> Remembered:
        """Returns where the agent is now, and where it goes."""
        agent, pose, target, been = memory
        _, _, _, start, post, goal = observation
        if pose < 0:
            return agent, 4 * (start if agent == EVADER else post), goal if agent == EVADER else start, ()
        if action is not None:
            pose = self._maze.after[ACTIONS.index(action)][pose]
        if agent != EVADER and pose >> 2 == target:
            been = (*been, target)
            left = [cell for cell in self._maze.starts if cell not in been]
            if not left:
                been, left = (target,), [cell for cell in self._maze.starts if cell != target]
            far = self._maze.far
            target = min(left, key=lambda cell: (far[cell][pose >> 2], cell))
        return agent, pose, target, been

    def chances(self, memory: Remembered) -> Mapping[str, float]:
        _, pose, target, _ = memory
        key = pose, target
        if key not in self._chances:
            far, after = self._maze.far[target], self._maze.after
            near = far[pose >> 2]
            closer = [action for number, action in enumerate(ACTIONS) if far[after[number][pose] >> 2] < near]
            self._chances[key] = evenly(closer or ACTIONS)
        return self._chances[key]


def policies(model: PursuitEvasion) -> Mapping[str, PosgPolicy]:
    """Returns the policies on a model, by name."""
    return {"shortest-path": ShortestPath(model)}


_MODEL: Final = PursuitEvasion()
PARTNERS: Final = {
    name: at_the_table(policy, _MODEL.observation_from_json) for name, policy in policies(_MODEL).items()
}
"""Every partner by name."""
