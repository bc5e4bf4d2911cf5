"""Driving on arrays: the tables of `games.posg.driving.roads`."""

from itertools import permutations
from math import factorial
from typing import Any, Final, NamedTuple

import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from games.batched.api import Array
from games.batched.posg.chance import picked, picked_where
from games.batched.posg.rules import SimultaneousRules
from games.posg.driving.model import ARRIVAL, ARRIVED, CRASH, CRASHED, PROGRESS, TOLD, Driving, Traffic
from games.posg.driving.roads import ACTIONS, WALL, heading_after, stopped

SPEEDS: Final = 4
WAIT: Final = 0
EMPTY_SIGN, WALL_SIGN, VEHICLE_SIGN, DESTINATION_SIGN = 2, 1, 0, 3
"""Places of the signs among the four numbers that a cell of the view has."""


class TrafficArrays(NamedTuple):
    """One game; int32 [P] each.

    Attributes:
        pose: of the vehicles, see `games.posg.driving.roads`.
        end: numbers of their destinations.
        ended: how they ended, see `games.posg.driving.model`.
        least: least distances to go so far.
        first: distances to go at the start.
    """

    pose: Array
    end: Array
    ended: Array
    least: Array
    first: Array


class DrivingRules(SimultaneousRules):
    """Driving on one map with any number of vehicles."""

    endings = ("success", "crash", "timeout")

    def __init__(self, model: Driving) -> None:
        agents = model.info.num_agents
        labels = [f"{what} of vehicle {agent}" for agent in range(agents) for what in ("start", "destination")]
        super().__init__(model, labels, ["order of vehicles"])
        roads = self._roads = model.roads()
        self._agents = agents
        self._starts, self._ends = np.array(roads.starts, np.int32), np.array(roads.ends, np.int32)
        self._far = np.array(roads.far, np.int32)
        self._poses = len(roads.after[WAIT])
        self._moves = self._way_by_way()
        self._orders = _orders(agents)
        poses = range(WAIT, self._poses, SPEEDS)
        self._view = np.array([roads.in_view(pose) for pose in poses], np.int32)
        """By cell and heading: the cells in view, -1 beyond the border."""
        walls = np.array([sign == WALL for row in roads.drawn((), ()) for sign in row])
        self._walls = (self._view < 0) | walls[self._view]

    def _way_by_way(self) -> NDArray[np.int32]:
        """Returns by action and pose: the next pose, where a crash on the first cell of the way leaves a vehicle, where
        one on the second does, and the one or two cells of the way, -1 for none."""
        rows = []
        for action in range(len(ACTIONS)):
            for pose, after in enumerate(self._roads.after[action]):
                heading, way = heading_after(action, pose), self._roads.way[action][pose]
                passed = (way[0] * 4 + heading) * 4 + (after & 3) if way else -1
                rows.append((after, stopped(pose, heading), passed, *way, *[-1] * (2 - len(way))))
        return np.array(rows, np.int32)

    def start(self, bits: Array) -> TrafficArrays:
        starts, ends = jnp.asarray(self._starts), jnp.asarray(self._ends)
        is_free, is_open = jnp.ones(starts.shape, bool), jnp.ones(ends.shape, bool)
        places, goals = [], []
        for agent in range(self._agents):
            place = picked_where(bits[2 * agent], is_free)
            goal = picked_where(bits[2 * agent + 1], is_open & (ends != starts[place]))
            is_free, is_open = is_free.at[place].set(False), is_open.at[goal].set(False)
            places.append(starts[place])
            goals.append(goal)
        cell, end = jnp.stack(places), jnp.stack(goals)
        far = jnp.asarray(self._far)[end, cell]
        return TrafficArrays(cell * 16 + 1, end, jnp.zeros_like(cell), far, far)

    def move(self, game: TrafficArrays, actions: Array, bits: Array) -> tuple[TrafficArrays, Array]:
        was_over = game.ended > 0
        going = (jnp.where(was_over, 0, 1) << jnp.arange(self._agents)).sum()
        ways = jnp.asarray([factorial(number) for number in range(self._agents + 1)])[(~was_over).sum()]
        order = jnp.asarray(self._orders)[going, picked(bits[0], ways)]
        after = game._replace(ended=jnp.where(was_over, game.ended | TOLD, 0))
        for turn in range(self._agents):
            after = self._driven(after, order[turn], actions)
        hurt, arrived = after.ended & CRASHED > 0, after.ended & ARRIVED > 0
        paid = jnp.where(was_over, 0.0, jnp.where(hurt, CRASH, jnp.where(arrived, ARRIVAL, 0.0)))
        return after, paid + PROGRESS * ((game.least - after.least) / game.first)

    def _driven(self, game: TrafficArrays, agent: Array, actions: Array) -> TrafficArrays:
        """Moves one vehicle as far as nobody is in its way, unless its game is over."""
        mine = jnp.arange(self._agents) == agent

        def own(values: Array) -> Array:
            return jnp.where(mine, values, 0).sum()

        pose, end = own(game.pose), own(game.end)
        row = jnp.asarray(self._moves)[own(actions) * self._poses + pose]
        cells = game.pose >> 4
        on_first, on_second = (~mine & (cells == row[place]) for place in (3, 4))
        first = on_first.any()
        second = on_second.any() & ~first
        moved = jnp.where(first, row[1], jnp.where(second, row[2], row[0]))
        hits = (on_first | (on_second & second)) & (first | second)
        there = moved >> 4
        ended = jnp.where(first | second, CRASHED, 0) | jnp.where(there == jnp.asarray(self._ends)[end], ARRIVED, 0)
        goes = own(game.ended) == 0
        mine &= goes
        return game._replace(
            pose=jnp.where(mine, moved, game.pose),
            ended=jnp.where(mine, ended, game.ended | jnp.where(hits & goes, CRASHED, 0)),
            least=jnp.where(mine, jnp.minimum(game.least, jnp.asarray(self._far)[end, there]), game.least),
        )

    def over(self, game: TrafficArrays) -> Array:
        return game.ended > 0

    def told(self, game: TrafficArrays) -> Array:
        cells, ends = game.pose >> 4, jnp.asarray(self._ends)[game.end]
        view, walls = jnp.asarray(self._view)[game.pose >> 2], jnp.asarray(self._walls)[game.pose >> 2]
        is_vehicle = (view[:, :, None] == cells).any(axis=-1)
        sign = jnp.where(is_vehicle, VEHICLE_SIGN, jnp.where(view == ends[:, None], DESTINATION_SIGN, EMPTY_SIGN))
        signs = jnp.where(walls, WALL_SIGN, sign)[:, :, None] == jnp.arange(4)
        width = self._roads.width
        numbers = (cells % width, cells // width, ends % width, ends // width, game.ended & 1, game.ended >> 1)
        parts = (
            signs.reshape(self._agents, -1),
            (game.pose & 3)[:, None] == jnp.arange(SPEEDS),
            jnp.stack(numbers, axis=-1),
        )
        vectors = jnp.concatenate([part.astype(jnp.float32) for part in parts], axis=-1)
        return jnp.where((game.ended & TOLD > 0)[:, None], 0.0, vectors)

    def figures(self, game: TrafficArrays) -> dict[str, Array]:
        """Returns the shares of the vehicles that arrived, crashed, and still drive."""
        ended = game.ended & ~TOLD
        shares = (ended == ARRIVED, ended & CRASHED > 0, ended == 0)
        return {name: share.mean(dtype=jnp.float32) for name, share in zip(self.endings, shares, strict=True)}

    def described(self, game: Any) -> Traffic:
        return (0, *np.stack(game, axis=-1).reshape(-1).tolist())


def _orders(agents: int) -> NDArray[np.int32]:
    """Returns the orders in which vehicles move, by which are under way (bits) and what is drawn; others come last."""
    orders = np.zeros((2**agents, factorial(agents), agents), np.int32)
    for bits in range(2**agents):
        going = [agent for agent in range(agents) if bits >> agent & 1]
        rest = [agent for agent in range(agents) if agent not in going]
        for number, order in enumerate(permutations(going)):
            orders[bits, number] = [*order, *rest]
    return orders
