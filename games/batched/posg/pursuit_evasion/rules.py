"""Pursuit and evasion on arrays: the tables of `games.posg.pursuit_evasion.maze`."""

from typing import Any, Final, NamedTuple

import jax.numpy as jnp
import numpy as np

from games.batched.api import Array
from games.batched.posg.chance import picked
from games.batched.posg.rules import SimultaneousRules
from games.posg.pursuit_evasion.model import CAUGHT, EVADER, PROGRESS, PURSUER, REACHED, Chase, PursuitEvasion

HEADINGS: Final = 4


class ChaseArrays(NamedTuple):
    """One game.

    Attributes:
        pose: int32 [2], of evader and pursuer, see `games.posg.pursuit_evasion.maze`.
        start: int32 [], number of the evader's start.
        post: int32 [], number of the pursuer's.
        goal: int32 [], number of the goal among the evader's starts.
        least: int32 [], least distance to it so far.
        over: bool [].
    """

    pose: Array
    start: Array
    post: Array
    goal: Array
    least: Array
    over: Array


class PursuitEvasionRules(SimultaneousRules):
    """Both maps and variants of the reference."""

    endings = ("caught", "reached", "timeout")

    def __init__(self, model: PursuitEvasion) -> None:
        super().__init__(model, ["start of the evader", "start of the pursuer", "goal"])
        maze = self._maze = model.maze
        cells, poses = range(len(maze.walls)), range(len(maze.sight))
        self._starts, self._posts = np.array(maze.starts, np.int32), np.array(maze.posts, np.int32)
        goals = [[maze.starts.index(goal) for goal in maze.goals[start]] for start in maze.starts]
        self._counts = np.array([len(some) for some in goals], np.int32)
        self._goals = np.array([[*some, *some[:1] * (max(self._counts) - len(some))] for some in goals], np.int32)
        self._poses = len(poses)
        self._after = np.array(maze.after, np.int32).reshape(-1)
        self._far = np.array([maze.far[start] for start in maze.starts], np.int32)
        self._sees = np.array([[maze.sight[pose] >> cell & 1 for cell in cells] for pose in poses], bool)
        self._hears = np.array([[maze.heard[cell] >> other & 1 for other in cells] for cell in cells], bool)
        self._walls = np.array([[maze.walls[cell] >> way & 1 for way in range(HEADINGS)] for cell in cells], np.int32)
        self._scale = (REACHED + PROGRESS * (maze.longest + 1)) / model.info.max_step
        """What payments are divided by."""

    def start(self, bits: Array) -> ChaseArrays:
        start, post = picked(bits[0], len(self._starts)), picked(bits[1], len(self._posts))
        goal = jnp.asarray(self._goals)[start, picked(bits[2], jnp.asarray(self._counts)[start])]
        cell = jnp.asarray(self._starts)[start]
        pose = jnp.stack([cell, jnp.asarray(self._posts)[post]]) * HEADINGS
        return ChaseArrays(pose, start, post, goal, jnp.asarray(self._far)[goal, cell], jnp.zeros((), bool))

    def move(self, game: ChaseArrays, actions: Array, bits: Array) -> tuple[ChaseArrays, Array]:
        after = jnp.asarray(self._after)[actions * self._poses + game.pose]
        cell, heading = game.pose[EVADER] // HEADINGS, after[EVADER] % HEADINGS
        is_blocked = after[PURSUER] // HEADINGS == cell  # the pursuer stands in its way out
        pose = after.at[EVADER].set(jnp.where(is_blocked, cell * HEADINGS + heading, after[EVADER]))
        near = jnp.asarray(self._far)[game.goal, pose[EVADER] // HEADINGS]
        caught, reached = self._caught(pose), near == 0
        paid = jnp.where(near < game.least, PROGRESS, 0.0) + jnp.where(caught, CAUGHT, jnp.where(reached, REACHED, 0.0))
        paid = paid / self._scale
        following = game._replace(pose=pose, least=jnp.minimum(near, game.least), over=caught | reached)
        return following, jnp.stack([paid, -paid])

    def _caught(self, pose: Array) -> Array:
        """Returns whether the pursuer has met or sees the evader, bool []."""
        cell = pose // HEADINGS
        return (cell[EVADER] == cell[PURSUER]) | jnp.asarray(self._sees)[pose[PURSUER], cell[EVADER]]

    def over(self, game: ChaseArrays) -> Array:
        return jnp.broadcast_to(game.over, (2,))

    def told(self, game: ChaseArrays) -> Array:
        cell = game.pose // HEADINGS
        hears = jnp.asarray(self._hears)[cell[EVADER], cell[PURSUER]]
        noticed = (jnp.asarray(self._sees)[game.pose, cell[::-1]], jnp.broadcast_to(hears, (2,)))
        starts = jnp.asarray(self._starts)
        places = jnp.stack([starts[game.start], jnp.asarray(self._posts)[game.post], starts[game.goal]])
        told = jnp.stack([places, places.at[2].set(0)])
        parts = (
            jnp.asarray(self._walls)[cell],
            jnp.stack(noticed, axis=-1),
            jnp.stack([told % self._maze.width, told // self._maze.width], axis=-1).reshape(2, -1),
        )
        return jnp.concatenate([part.astype(jnp.float32) for part in parts], axis=-1)

    def figures(self, game: ChaseArrays) -> dict[str, Array]:
        """Returns how the chase ended: the evader was caught or reached its goal, or neither."""
        caught = self._caught(game.pose)
        return dict(zip(self.endings, (game.over & caught, game.over & ~caught, ~game.over), strict=True))

    def described(self, game: Any) -> Chase:
        starts, (pose, pose_1) = self._maze.starts, game.pose.tolist()
        start, goal = starts[int(game.start)], starts[int(game.goal)]
        return pose, pose_1, start, self._maze.posts[int(game.post)], goal, int(game.least), int(game.over)
