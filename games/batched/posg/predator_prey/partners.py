"""H1 to H3 in lanes: tables that the reference's policies fill."""

from collections.abc import Mapping
from typing import Final

import jax.numpy as jnp
import numpy as np

from games.batched.api import Array
from games.batched.posg.policies import BatchedPartner
from games.posg.predator_prey.model import ACROSS, ACTIONS, EMPTY, QUARRY, SIGHT, PredatorPrey
from games.posg.predator_prey.partners import CIRCLE, Hunter, policies

PLACES: Final = ACROSS * ACROSS
MIDDLE: Final = PLACES // 2
MOST: Final = 100
"""More than any distance in view."""
_AT: Final = [(place % ACROSS, place // ACROSS) for place in range(PLACES)]
APART: Final = np.array([[abs(a - c) + abs(b - d) for c, d in _AT] for a, b in _AT], np.int32)
"""By place and place of the view: columns and rows between them."""
AHEAD: Final = np.array([MIDDLE + SIGHT * (right + ACROSS * down) for _, (right, down) in CIRCLE])
"""By way of those who circle: the place of the view that is a wall if one is less than two cells ahead."""
DOWNWARD, RIGHTWARD, LEFTWARD = 3, 2, 0
"""Ways of those who circle."""


class BatchedHunter(BatchedPartner):
    """A hunter of one kind; `games.posg.predator_prey.partners.Hunter` says what it does. Remembers its way."""

    def __init__(self, policy: Hunter) -> None:
        """Args:
        policy: the reference.
        """
        self._follows, self._circles = policy.follows, policy.circles
        views = [EMPTY * place + QUARRY + EMPTY * (PLACES - 1 - place) for place in range(PLACES)]
        self._goes = np.array([policy.probabilities((view, 0), ACTIONS) for view in views], np.float32)
        """By place of what it goes for."""
        ways = range(len(CIRCLE))
        self._else = np.array([policy.probabilities((EMPTY * PLACES, way), ACTIONS) for way in ways], np.float32)
        """By way: what it does if there is nothing to go for."""

    def initial(self, lanes: int) -> Array:
        return jnp.full(lanes, -1, jnp.int32)

    def chances(self, memory: Array, seen: Array) -> tuple[Array, Array]:
        signs = seen.reshape(len(seen), PLACES, -1) > 0.0
        is_wall, is_prey = signs[:, :, 1], signs[:, :, 3]
        is_other = signs[:, :, 2] & (jnp.arange(PLACES) != MIDDLE)
        own = jnp.asarray(APART)[MIDDLE]
        other = _least(own, is_other)
        if self._follows:
            target = jnp.where(is_prey.any(axis=1), _least(own, is_prey), other)
            has_target = (is_prey | is_other).any(axis=1)
        else:
            from_other = jnp.where(is_other.any(axis=1, keepdims=True), jnp.asarray(APART)[other], 0)
            target, has_target = _least(MOST * from_other + own, is_prey), is_prey.any(axis=1)
        way = jnp.where(has_target, memory, self._way_on(memory, is_wall)) if self._circles else memory
        chances = jnp.where(has_target[:, None], jnp.asarray(self._goes)[target], jnp.asarray(self._else)[way])
        return way, chances

    def _way_on(self, way: Array, is_wall: Array) -> Array:
        """Returns the way that one who circles takes, which turns where a wall is ahead."""
        is_near = is_wall[:, AHEAD]
        first = jnp.where(is_near[:, DOWNWARD] & ~is_near[:, RIGHTWARD], RIGHTWARD, LEFTWARD)
        way = jnp.where(way < 0, first, way)
        for _ in CIRCLE:
            turns = jnp.take_along_axis(is_near, way[:, None], axis=1)[:, 0]
            way = jnp.where(turns, (way + 1) % len(CIRCLE), way)
        return way.astype(jnp.int32)

    def acted(self, memory: Array, actions: Array) -> Array:
        return memory


def _least(rank: Array, offered: Array) -> Array:
    """Returns the first of the places that are offered whose rank is least, int32 [L]."""
    return jnp.argmin(jnp.where(offered, rank, MOST * MOST), axis=1).astype(jnp.int32)


def partners(model: PredatorPrey) -> Mapping[str, BatchedPartner]:
    """Returns H1 to H3, by name; they know nothing of the model."""
    return {name: BatchedHunter(policy) for name, policy in policies(model).items()}
