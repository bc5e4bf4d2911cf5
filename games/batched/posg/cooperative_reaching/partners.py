"""H1 to H11 in lanes: tables that the reference's policies fill."""

from collections.abc import Mapping
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from games.batched.api import Array
from games.batched.posg.policies import BatchedPartner
from games.posg.cooperative_reaching.model import ACTIONS, UNSEEN, CooperativeReaching
from games.posg.cooperative_reaching.partners import GoalChooser, policies
from games.posg.policies import PosgPolicy


class ChosenGoal(NamedTuple):
    """What who chose a goal remembers.

    Attributes:
        chances: float32 [L, G], that it is making for each goal, given what it did.
        cell: int32 [L], its own.
        action: int32 [L], what it did last; -1 before the start.
    """

    chances: Array
    cell: Array
    action: Array


class BatchedChooser(BatchedPartner):
    """Chooses a goal at the start; `games.posg.cooperative_reaching.partners.GoalChooser` says how."""

    def __init__(self, model: CooperativeReaching, policy: GoalChooser) -> None:
        """Args:
        model: of the game.
        policy: the reference.
        """
        self._size, cells = model.size, range(model.size**2)
        first = [policy.first((cell, UNSEEN)) for cell in cells]
        goals = sorted({goal for weights in first for goal, _ in weights})
        self._first = np.array([[dict(weights).get(goal, 0.0) for goal in goals] for weights in first], np.float32)
        ways = [[policy.towards(cell, goal) for goal in goals] for cell in cells]
        self._ways = np.array(
            [[[way.get(action, 0.0) for action in ACTIONS] for way in by_goal] for by_goal in ways], np.float32
        )
        """By cell, goal and action: how likely the action is on the way."""

    def initial(self, lanes: int) -> ChosenGoal:
        nothing = jnp.full(lanes, -1, jnp.int32)
        return ChosenGoal(jnp.zeros((lanes, self._first.shape[1]), jnp.float32), nothing, nothing)

    def chances(self, memory: ChosenGoal, seen: Array) -> tuple[ChosenGoal, Array]:
        cell = _cell(seen[:, 0], seen[:, 1], self._size)
        ways = jnp.asarray(self._ways)
        did = jnp.take_along_axis(ways[memory.cell], jnp.maximum(memory.action, 0)[:, None, None], axis=2)[:, :, 0]
        kept = memory.chances * did
        total = kept.sum(axis=1, keepdims=True)
        kept = jnp.where(total > 0.0, kept / jnp.where(total > 0.0, total, 1.0), memory.chances)
        kept = jnp.where((memory.action < 0)[:, None], jnp.asarray(self._first)[cell], kept)
        return ChosenGoal(kept, cell, memory.action), (kept[:, :, None] * ways[cell]).sum(axis=1)

    def acted(self, memory: ChosenGoal, actions: Array) -> ChosenGoal:
        return memory._replace(action=actions)


class BatchedFollower(BatchedPartner):
    """Remembers nothing; `games.posg.cooperative_reaching.partners.GoalFollower` says what it does."""

    def __init__(self, model: CooperativeReaching, policy: PosgPolicy) -> None:
        """Args:
        model: of the game.
        policy: the reference, whose memory follows from what it was told last.
        """
        self._size, cells = model.size, range(model.size**2)
        told = [(cell, other) for cell in cells for other in (*cells, UNSEEN)]
        memories = [policy.update(policy.start(0), None, one) for one in told]
        self._chances = np.array([policy.probabilities(memory, ACTIONS) for memory in memories], np.float32)
        """By own cell and the other's, the one after the last where it is not seen."""

    def initial(self, lanes: int) -> tuple[()]:
        return ()

    def chances(self, memory: tuple[()], seen: Array) -> tuple[tuple[()], Array]:
        own = _cell(seen[:, 0], seen[:, 1], self._size)
        other = jnp.where(seen[:, 2] < self._size, _cell(seen[:, 2], seen[:, 3], self._size), self._size**2)
        return (), jnp.asarray(self._chances)[own * (self._size**2 + 1) + other]

    def acted(self, memory: tuple[()], actions: Array) -> tuple[()]:
        return ()


def _cell(column: Array, row: Array, size: int) -> Array:
    return (row * size + column).astype(jnp.int32)


def partners(model: CooperativeReaching) -> Mapping[str, BatchedPartner]:
    """Returns H1 to H11 on a model, by name."""
    return {
        name: BatchedChooser(model, policy) if isinstance(policy, GoalChooser) else BatchedFollower(model, policy)
        for name, policy in policies(model).items()
    }
