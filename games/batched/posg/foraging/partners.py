"""H1 to H5 in lanes."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import jax.numpy as jnp
import numpy as np

from games.batched.api import Array
from games.batched.posg.policies import BatchedPartner
from games.posg.foraging.field import ACROSS, ACTIONS, SIGHT, Foraging
from games.posg.foraging.partners import towards

Chooser: TypeAlias = Callable[[Array, Array, Array], Array]
"""Given the own levels [L, 1], the other's place and level [L, 3] (level 0 if unseen), and the food [L, 8, 3] (level 0
for none): what to go for, each as likely, bool [L, 8]."""

_WAYS: Final = [
    [
        {} if (column, row) == (SIGHT, SIGHT) else towards((SIGHT, SIGHT, 0), (column, row, 0))
        for column in range(ACROSS)
    ]
    for row in range(ACROSS)
]
WAYS: Final = np.array([[[way.get(action, 0.0) for action in ACTIONS] for way in row] for row in _WAYS], np.float32)
"""By row and column of what a forager goes for: what it does."""
FAR: Final = 1_000


class BatchedForager(BatchedPartner):
    """Remembers nothing; `games.posg.foraging.partners` says what it does."""

    def __init__(self, choose: Chooser) -> None:
        self._choose = choose

    def initial(self, lanes: int) -> tuple[()]:
        return ()

    def chances(self, memory: tuple[()], seen: Array) -> tuple[tuple[()], Array]:
        things = seen.reshape(len(seen), -1, 3).astype(jnp.int32)
        food = things[:, 2:]
        targets = self._choose(things[:, :1, 2], things[:, 1], food) & (food[..., 2] > 0)
        ways = jnp.asarray(WAYS)[food[..., 1], food[..., 0]]
        count = targets.sum(axis=1)[:, None]
        mean = jnp.where(targets[..., None], ways, 0.0).sum(axis=1) / jnp.maximum(count, 1)
        return (), jnp.where(count > 0, mean, 1.0 / len(ACTIONS))

    def acted(self, memory: tuple[()], actions: Array) -> tuple[()]:
        return ()


def _from_own(food: Array) -> Array:
    return jnp.abs(food[..., :2] - SIGHT).sum(axis=-1)


def _from_middle(other: Array, food: Array) -> Array:
    """Returns how far food is from the middle of both foragers, times two."""
    return jnp.abs(2 * food[..., :2] - (SIGHT + other[:, None, :2])).sum(axis=-1)


def _nearest(far: Array, offered: Array) -> Array:
    """Returns which of what is offered is nearest."""
    ranked = jnp.where(offered, far, FAR)
    return offered & (ranked == ranked.min(axis=1, keepdims=True))


def _h1(own: Array, other: Array, food: Array) -> Array:
    return _nearest(_from_own(food), food[..., 2] > 0)


def _h2(own: Array, other: Array, food: Array) -> Array:
    return (other[:, 2:] > 0) & _nearest(_from_middle(other, food), food[..., 2] > 0)


def _h3(own: Array, other: Array, food: Array) -> Array:
    return _nearest(_from_own(food), _light(food, own))


def _h4(own: Array, other: Array, food: Array) -> Array:
    return (other[:, 2:] > 0) & _nearest(-_from_middle(other, food), _light(food, own))


def _h5(own: Array, other: Array, food: Array) -> Array:
    return _light(food, own + other[:, 2:])


def _light(food: Array, strength: Array) -> Array:
    return (food[..., 2] > 0) & (food[..., 2] <= strength)


def partners(model: Foraging) -> Mapping[str, BatchedPartner]:
    """Returns H1 to H5, by name; they know nothing of the model."""
    choosers: dict[str, Chooser] = {"H1": _h1, "H2": _h2, "H3": _h3, "H4": _h4, "H5": _h5}
    return {name: BatchedForager(choose) for name, choose in choosers.items()}
