"""Predators and prey on arrays: the tables of the reference, and the order in which prey flee."""

from typing import Any, Final, NamedTuple

import jax.numpy as jnp
import numpy as np

from games.batched.api import Array
from games.batched.posg.chance import picked, picked_where
from games.batched.posg.rules import SimultaneousRules
from games.posg.predator_prey.model import (
    ALL,
    AROUND,
    CENTRE,
    CORNERS,
    FAR,
    NEXT,
    PREY,
    SIZE,
    STRENGTH,
    VIEW,
    Hunt,
    PredatorPrey,
    ways_from,
)

CELLS: Final = SIZE * SIZE
NOWHERE: Final = -1
EMPTY_SIGN, WALL_SIGN, PREDATOR_SIGN, PREY_SIGN = range(4)
"""Places of the signs among the four numbers that a cell of the view has."""


class HuntArrays(NamedTuple):
    """One game.

    Attributes:
        predators: int32 [2], cells.
        prey: int32 [3], cells.
        caught: bool [3].
        gone: bool [3], caught before the last step.
    """

    predators: Array
    prey: Array
    caught: Array
    gone: Array


class PredatorPreyRules(SimultaneousRules):
    """Both variants of the reference."""

    def __init__(self, model: PredatorPrey) -> None:
        kinds = ("predator that prey {} flees", "prey that prey {} avoids", "prey {}")
        super().__init__(
            model,
            [f"start of predator {agent}" for agent in range(2)]
            + [f"start of prey {number}" for number in range(PREY)],
            [kind.format(number) for kind in kinds for number in range(PREY)],
        )
        cells = range(CELLS)
        self._skips = model.is_published
        self._far, self._near = np.array(FAR, np.int32), np.array(model.near)
        self._next = np.array(NEXT, np.int32).reshape(-1)
        self._around = np.array([_filled(around) for around in AROUND], np.int32)
        """By cell: its neighbours, those that it lacks at the end as -1."""
        self._ways = np.array([_ways(cell, threat) for cell in cells for threat in cells], np.int32)
        """By cell and what threatens there: where to flee to, best first, until it is best to stay."""
        self._view = np.array(VIEW, np.int32)

    def start(self, bits: Array) -> HuntArrays:
        predators = _distinct(jnp.array(CORNERS), bits[:2])
        prey = _distinct(jnp.array(CENTRE), bits[2:])
        nobody = jnp.zeros(PREY, bool)
        return HuntArrays(predators, prey, nobody, nobody)

    def move(self, game: HuntArrays, actions: Array, bits: Array) -> tuple[HuntArrays, Array]:
        prey = self._fled(game, bits)
        there = jnp.asarray(self._next)[actions * CELLS + game.predators]
        is_taken = ((there[:, None] == prey) & ~game.caught).any(axis=1)
        there = jnp.where(is_taken, game.predators, there)
        there = jnp.where(there[0] == there[1], game.predators, there)
        caught = game.caught | (jnp.asarray(self._far)[there[:, None], prey] <= 1).all(axis=0)
        paid = (caught & ~game.caught).sum() / PREY
        return HuntArrays(there, prey, caught, game.caught), jnp.broadcast_to(paid, (2,))

    def _fled(self, game: HuntArrays, bits: Array) -> Array:
        """Returns where the prey are next: first those move that a predator is near, then those near other prey."""
        caught, free = game.caught, PREY - game.caught.sum()
        cells, occupied = game.prey, jnp.where(caught, NOWHERE, game.prey)
        has_moved = caught
        for number in range(PREY):
            threat = self._closest(game.prey[number], game.predators, jnp.ones(2, bool), bits[number])
            cells, occupied, has_moved = self._away(number, threat, game, (cells, occupied, has_moved))
        for number in range(PREY):
            others = np.array([other for other in range(PREY) if other != number])
            is_there = ~caught[others] & (free > 1)
            threat = self._closest(game.prey[number], game.prey[others], is_there, bits[PREY + number])
            cells, occupied, has_moved = self._away(number, threat, game, (cells, occupied, has_moved))
        around = jnp.asarray(self._around)[game.prey]
        walked = picked(bits[2 * PREY :], (around >= 0).sum(axis=1))
        walked = jnp.take_along_axis(around, walked[:, None], axis=1)[:, 0]
        return jnp.where(has_moved, cells, walked)

    def _closest(self, cell: Array, pair: Array, is_there: Array, bits: Array) -> Array:
        """Returns the closer of two cells, one drawn of two as close, or -1 if it is not near."""
        far = jnp.where(is_there, jnp.asarray(self._far)[cell, pair], 2 * CELLS)
        drawn = jnp.where(picked(bits, 2) == 0, pair.min(), pair.max())
        closer = jnp.where(far[0] == far[1], drawn, jnp.where(far[0] < far[1], pair[0], pair[1]))
        return jnp.where(is_there.any() & jnp.asarray(self._near)[cell, closer], closer, NOWHERE)

    def _away(
        self, number: int, threat: Array, game: HuntArrays, standing: tuple[Array, Array, Array]
    ) -> tuple[Array, Array, Array]:
        """Has a prey flee that has not moved yet.

        Args:
            number: of the prey.
            threat: what it flees from, -1 for nothing.
            game: before the step.
            standing: cells of the prey, those that they take up (-1 if caught), and which have moved.

        Returns:
            What `standing` is then.
        """
        cells, occupied, has_moved = standing
        cell = game.prey[number]
        ways = jnp.asarray(self._ways)[cell * CELLS + jnp.maximum(threat, 0)]
        taken = jnp.concatenate([game.predators, occupied])
        around = jnp.asarray(self._around)[jnp.maximum(ways, 0)]
        room = self._free((around[:, :, None] == taken).any(axis=-1), around >= 0)
        fits = (ways >= 0) & ~(ways[:, None] == taken).any(axis=1) & (room >= STRENGTH)
        there = jnp.where(fits.any(), ways[jnp.argmax(fits)], cell)
        moves = (threat >= 0) & ~has_moved[number]
        mine = (np.arange(PREY) == number) & moves
        return jnp.where(mine, there, cells), jnp.where(mine, there, occupied), has_moved | mine

    def _free(self, is_taken: Array, is_there: Array) -> Array:
        """Returns how many neighbours are free, int32 [...]; as published, one after a taken one is not looked at.

        Args:
            is_taken: bool [..., 4].
            is_there: bool [..., 4], whether there is such a neighbour; those that are come first.
        """
        counted = []
        skips = jnp.zeros(is_taken.shape[:-1], bool)
        for place in range(is_taken.shape[-1]):
            taken = is_taken[..., place] & ~skips
            counted.append(is_there[..., place] & ~taken)
            skips = taken if self._skips else skips
        return jnp.stack(counted).sum(axis=0)

    def over(self, game: HuntArrays) -> Array:
        return jnp.broadcast_to(game.caught.all(), (2,))

    def told(self, game: HuntArrays) -> Array:
        view = jnp.asarray(self._view)[game.predators][:, :, None]
        is_predator = (view == game.predators).any(axis=-1)
        is_prey = ((view == game.prey) & ~game.gone).any(axis=-1)
        sign = jnp.where(is_predator, PREDATOR_SIGN, jnp.where(is_prey, PREY_SIGN, EMPTY_SIGN))
        signs = jnp.where(view[..., 0] < 0, WALL_SIGN, sign)[:, :, None] == jnp.arange(4)
        return signs.reshape(2, -1).astype(jnp.float32)

    def figures(self, game: HuntArrays) -> dict[str, Array]:
        """Returns how many prey were caught, and whether all were."""
        return {"captures": game.caught.sum(dtype=jnp.int32), "cleared": game.caught.all()}

    def described(self, game: Any) -> Hunt:
        (first, second), (one, two, three) = game.predators.tolist(), game.prey.tolist()
        caught, gone = (int(bits @ (1 << np.arange(PREY))) & ALL for bits in (game.caught, game.gone))
        return first, second, one, two, three, caught, gone


def _distinct(places: Array, bits: Array) -> Array:
    """Returns different ones of some cells, as many as there are bits."""
    is_free, found = jnp.ones(places.shape, bool), []
    for draw in bits:
        place = picked_where(draw, is_free)
        is_free = is_free.at[place].set(False)
        found.append(places[place])
    return jnp.stack(found)


def _filled(cells: list[int]) -> list[int]:
    """Returns four cells, -1 for those that there are not."""
    return [*cells, *[NOWHERE] * (4 - len(cells))]


def _ways(cell: int, threat: int) -> list[int]:
    ways = ways_from(cell, threat)
    return _filled(ways[: ways.index(cell)])
