"""Walkers on shortest ways in lanes: tables that the reference's policy fills."""

from collections.abc import Mapping
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from games.batched.api import Array
from games.batched.posg.policies import BatchedPartner
from games.posg.policies import PosgPolicy
from games.posg.pursuit_evasion.maze import ACTIONS
from games.posg.pursuit_evasion.model import EVADER, PursuitEvasion
from games.posg.pursuit_evasion.partners import policies


class WalkerMemory(NamedTuple):
    """What a walker remembers.

    Attributes:
        pose: int32 [L], its own; -1 before the start.
        target: int32 [L], number of the cell that it goes to, among the evader's starts.
        been: bool [L, S], those of them where a pursuer has been to look.
        action: int32 [L], what it did last.
    """

    pose: Array
    target: Array
    been: Array
    action: Array


class BatchedWalker(BatchedPartner):
    """Evader or pursuer; `games.posg.pursuit_evasion.partners.ShortestPath` says what it does.

    It knows by its goal which of the two it is: a pursuer is told the cell in the corner, which is no goal.
    """

    def __init__(self, model: PursuitEvasion, policy: PosgPolicy) -> None:
        """Args:
        model: of the game.
        policy: the reference.
        """
        maze = model.maze
        self._width, starts = maze.width, maze.starts
        poses = range(len(maze.sight))
        self._after = np.array(maze.after, np.int32)
        self._far = np.array([maze.far[start] for start in starts], np.int32)
        self._numbers = np.zeros(len(maze.walls), np.int32)
        self._numbers[starts] = range(len(starts))
        self._ways = np.zeros((len(starts), len(poses), len(ACTIONS)), np.float32)
        """By cell to go to and own pose; nothing within walls."""
        for number, start in enumerate(starts):
            for pose in poses:
                if maze.far[start][pose >> 2] >= 0:
                    self._ways[number, pose] = policy.probabilities((EVADER, pose, start, ()), ACTIONS)

    def initial(self, lanes: int) -> WalkerMemory:
        nothing = jnp.zeros(lanes, jnp.int32)
        return WalkerMemory(nothing - 1, nothing, jnp.zeros((lanes, len(self._far)), bool), nothing)

    def chances(self, memory: WalkerMemory, seen: Array) -> tuple[WalkerMemory, Array]:
        start, post, goal = ((seen[:, at] + self._width * seen[:, at + 1]).astype(jnp.int32) for at in (6, 8, 10))
        is_evader, begins = goal > 0, memory.pose < 0
        numbers = jnp.asarray(self._numbers)
        first = 4 * jnp.where(is_evader, start, post)
        pose = jnp.where(begins, first, jnp.asarray(self._after)[memory.action, memory.pose])
        target = jnp.where(begins, numbers[jnp.where(is_evader, goal, start)], memory.target)
        looks = ~begins & ~is_evader & (jnp.asarray(self._far)[target, pose >> 2] == 0)
        next_target, been = self._next(target, memory.been, pose)
        target = jnp.where(looks, next_target, target).astype(jnp.int32)
        been = jnp.where(looks[:, None], been, memory.been)
        return WalkerMemory(pose, target, been, memory.action), jnp.asarray(self._ways)[target, pose]

    def _next(self, target: Array, been: Array, pose: Array) -> tuple[Array, Array]:
        """Returns where a pursuer goes who is where it wanted to be, and where it has been then."""
        here = jnp.arange(len(self._far)) == target[:, None]
        been = been | here
        been = jnp.where(been.all(axis=1, keepdims=True), here, been)
        far = jnp.asarray(self._far).T[pose >> 2]
        return jnp.argmin(jnp.where(been, far.max() + 1, far), axis=1), been

    def acted(self, memory: WalkerMemory, actions: Array) -> WalkerMemory:
        return memory._replace(action=actions)


def partners(model: PursuitEvasion) -> Mapping[str, BatchedPartner]:
    """Returns the policies on a model, by name."""
    return {name: BatchedWalker(model, policy) for name, policy in policies(model).items()}
