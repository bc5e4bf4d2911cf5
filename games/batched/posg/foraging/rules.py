"""Level-based foraging on arrays, in fixed and in drawn places."""

from typing import Any, Final, NamedTuple

import jax.numpy as jnp
import numpy as np

from games.batched.api import Array
from games.batched.posg.chance import picked, picked_where
from games.batched.posg.rules import SimultaneousRules
from games.posg.foraging.field import (
    ACROSS,
    FOODS,
    LEVELS,
    LOAD,
    NEAR,
    NEXT,
    PLACES,
    SIGHT,
    SIZE,
    STARTS,
    Field,
    Foraging,
)
from games.posg.foraging.model import ForagingInPlaces

CELLS: Final = SIZE * SIZE
INNER_NEIGHBOURS: Final = 4


class FieldArrays(NamedTuple):
    """One game, int32.

    Attributes:
        cell: [2], of the agents.
        level: [2], theirs.
        place: [8], cells of the food.
        weight: [8], its levels; 0 where it is gone or there was no room for it.
        total: [], sum of the levels at the start.
        eaten: [], food that was lifted.
    """

    cell: Array
    level: Array
    place: Array
    weight: Array
    total: Array
    eaten: Array


class ForagingRules(SimultaneousRules):
    """Foraging in the places that the reference has."""

    def __init__(self, model: Foraging) -> None:
        self._is_fixed = isinstance(model, ForagingInPlaces)
        labels = [f"level of agent {agent}" for agent in range(2)] + [f"level of food {food}" for food in range(FOODS)]
        if not self._is_fixed:
            labels += [f"start of agent {agent}" for agent in range(2)]
            labels += [f"place of food {food}" for food in range(FOODS)]
        super().__init__(model, labels)
        self._next = np.array(NEXT, np.int32).reshape(-1)
        self._inner = np.array([len(near) == INNER_NEIGHBOURS for near in NEAR])

    def start(self, bits: Array) -> FieldArrays:
        level = 1 + picked(bits[:2], LEVELS)
        cell, place = jnp.array(STARTS), jnp.array(PLACES)
        has_room = jnp.ones(FOODS, bool)
        if not self._is_fixed:
            cell, place, has_room = self._placed(bits[2 + FOODS :])
        weight = jnp.where(has_room, 1 + picked(bits[2 : 2 + FOODS], level.sum()), 0)
        return FieldArrays(cell, level, place, weight, weight.sum(), jnp.zeros((), jnp.int32))

    def _placed(self, bits: Array) -> tuple[Array, Array, Array]:
        """Returns drawn cells of agents and food, and for which food there was room."""
        cells = jnp.arange(CELLS)
        first = picked_where(bits[0], cells >= 0)
        second = picked_where(bits[1], cells != first)
        is_open = jnp.asarray(self._inner) & (cells != first) & (cells != second)
        places, rooms = [], []
        for food in range(FOODS):
            rooms.append(is_open.any())
            place = picked_where(bits[2 + food], is_open)
            places.append(place)
            down, right = jnp.abs(cells // SIZE - place // SIZE), jnp.abs(cells % SIZE - place % SIZE)
            is_open &= jnp.maximum(down, right) > 1
        return jnp.stack([first, second]), jnp.stack(places), jnp.stack(rooms)

    def move(self, game: FieldArrays, actions: Array, bits: Array) -> tuple[FieldArrays, Array]:
        lies = game.weight > 0
        there = jnp.asarray(self._next)[actions * CELLS + game.cell]
        there = jnp.where((lies & (there[:, None] == game.place)).any(axis=1), game.cell, there)
        there = jnp.where(there[0] == there[1], game.cell, there)
        down = jnp.abs(game.cell[:, None] // SIZE - game.place // SIZE)
        right = jnp.abs(game.cell[:, None] % SIZE - game.place % SIZE)
        lifts = jnp.where((actions == LOAD)[:, None] & (down + right == 1), game.level[:, None], 0)
        strength = lifts.sum(axis=0)
        lifted = lies & (strength >= game.weight)
        share = jnp.where(lifted, game.weight / (jnp.maximum(strength, 1) * game.total), 0.0)
        weight = jnp.where(lifted, 0, game.weight)
        after = game._replace(cell=there, weight=weight, eaten=game.eaten + lifted.sum())
        return after, (lifts * share).sum(axis=1)

    def over(self, game: FieldArrays) -> Array:
        return jnp.broadcast_to((game.weight == 0).all(), (2,))

    def told(self, game: FieldArrays) -> Array:
        own = game.cell[:, None]
        things = jnp.concatenate([game.cell[::-1, None], jnp.broadcast_to(game.place, (2, FOODS))], axis=1)
        weights = jnp.concatenate([game.level[::-1, None], jnp.broadcast_to(game.weight, (2, FOODS))], axis=1)
        column, row = things % SIZE - own % SIZE + SIGHT, things // SIZE - own // SIZE + SIGHT
        inside = (column >= 0) & (column < ACROSS) & (row >= 0) & (row < ACROSS) & (weights > 0)
        codes = jnp.where(inside, (column + 1) << 6 | (row + 1) << 3 | weights, 0)
        # Food in view is told one after the other, without gaps: slot by slot, the food of that number.
        number = jnp.cumsum(inside[:, 1:], axis=1) - 1
        holds = inside[:, None, 1:] & (number[:, None] == jnp.arange(FOODS)[:, None])
        food = jnp.where(holds, codes[:, None, 1:], 0).sum(axis=2)
        mine = (SIGHT + 1) << 6 | (SIGHT + 1) << 3 | game.level[:, None]
        told = jnp.concatenate([mine, codes[:, :1], food], axis=1)
        triples = jnp.stack([(told >> 6) - 1, (told >> 3 & 7) - 1, told & 7], axis=-1)
        return triples.reshape(2, -1).astype(jnp.float32)

    def figures(self, game: FieldArrays) -> dict[str, Array]:
        """Returns how much food was lifted, and whether all was."""
        return {"eaten": game.eaten, "cleared": self.over(game)[0]}

    def described(self, game: Any) -> Field:
        food = tuple(
            int(value)
            for place, weight in zip(game.place, game.weight, strict=True)
            if weight
            for value in (place, weight)
        )
        (cell, cell_1), (level, level_1) = game.cell.tolist(), game.level.tolist()
        return cell, level, cell_1, level_1, int(game.total), food
