"""A0 to A100 in lanes: tables that the reference's policies fill."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import jax.numpy as jnp
import numpy as np

from games.batched.api import Array
from games.batched.posg.policies import BatchedPartner
from games.posg.driving.model import Driving
from games.posg.driving.partners import ShortestWay, policies
from games.posg.driving.roads import ACTIONS, EMPTY, VEHICLE, heading_after

SIGNS: Final = 4
"""Numbers of a cell of the view, the first of which says that a vehicle is there."""


class DriverMemory(NamedTuple):
    """What a driver remembers; int32 [L] each.

    Attributes:
        pose: its own.
        action: what it did last; -1 before the start.
    """

    pose: Array
    action: Array


class BatchedDriver(BatchedPartner):
    """A driver of some daring; `games.posg.driving.partners.ShortestWay` says what it does."""

    def __init__(self, model: Driving, policy: ShortestWay) -> None:
        """Args:
        model: with one map.
        policy: the reference.
        """
        roads, (ahead, behind, side) = model.roads(), model.view
        self._places = (ahead + behind + 1) * (2 * side + 1)
        self._width, self._near = roads.width, policy.near
        views = [VEHICLE.rjust(place + 1, EMPTY).ljust(self._places, EMPTY) for place in range(self._places)]
        self._distances = np.array([policy.distance(view) for view in views], np.int32)
        poses = range(len(roads.after[0]))
        self._headings = np.array([[heading_after(action, pose) for pose in poses] for action in range(5)], np.int32)
        self._stops = np.array([policy.probabilities((speed, 0, True), ACTIONS) for speed in range(4)], np.float32)
        """By speed: what a driver does whom somebody is too near."""
        self._ends = np.zeros(len(roads.far[0]), np.int32)
        self._ends[roads.ends] = range(len(roads.ends))
        self._goes = np.zeros((len(roads.ends), len(poses), len(ACTIONS)), np.float32)
        """By destination and pose: what it does if nobody is; nothing off the roads."""
        for end, far in enumerate(roads.far):
            for pose in poses:
                if far[pose >> 4] >= 0:
                    self._goes[end, pose] = policy.probabilities((pose, end, False), ACTIONS)

    def initial(self, lanes: int) -> DriverMemory:
        return DriverMemory(jnp.zeros(lanes, jnp.int32), jnp.full(lanes, -1, jnp.int32))

    def chances(self, memory: DriverMemory, seen: Array) -> tuple[DriverMemory, Array]:
        signs = self._places * SIGNS
        is_vehicle = seen[:, :signs:SIGNS] > 0.0
        near = jnp.where(is_vehicle, jnp.asarray(self._distances), self._places).min(axis=1) <= self._near
        speed = jnp.argmax(seen[:, signs : signs + 4], axis=1)
        column, row, end_column, end_row = (seen[:, signs + 4 + place].astype(jnp.int32) for place in range(4))
        heading = jnp.asarray(self._headings)[jnp.maximum(memory.action, 0), memory.pose]
        heading = jnp.where(memory.action < 0, 0, heading)
        pose = ((row * self._width + column) * 4 + heading) * 4 + speed
        end = jnp.asarray(self._ends)[end_row * self._width + end_column]
        chances = jnp.where(near[:, None], jnp.asarray(self._stops)[speed], jnp.asarray(self._goes)[end, pose])
        return DriverMemory(pose.astype(jnp.int32), memory.action), chances

    def acted(self, memory: DriverMemory, actions: Array) -> DriverMemory:
        return memory._replace(action=actions)


def partners(model: Driving) -> Mapping[str, BatchedPartner]:
    """Returns A0 to A100 on a model with one map, by name."""
    return {name: BatchedDriver(model, policy) for name, policy in policies(model).items()}
