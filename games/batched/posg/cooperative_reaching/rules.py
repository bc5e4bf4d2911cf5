"""Cooperative reaching on arrays."""

from random import Random
from typing import Any

import jax.numpy as jnp
import numpy as np

from games.batched.api import Array
from games.batched.posg.chance import picked
from games.batched.posg.rules import SimultaneousRules
from games.posg.cooperative_reaching.model import ACTIONS, BEST, UNSEEN, Cells, CooperativeReaching


class ReachingRules(SimultaneousRules):
    """A game is the cells of both agents, int32 [2]."""

    def __init__(self, model: CooperativeReaching) -> None:
        super().__init__(model, [f"start of agent {agent}" for agent in range(2)])
        cells = range(model.size**2)
        inner = range(1, model.size - 1)
        self._size = model.size
        self._starts = np.array([row * model.size + column for row in inner for column in inner], np.int32)
        self._next = np.array([model.next[action] for action in ACTIONS], np.int32).reshape(-1)
        self._values = np.array([model.goals.get(cell, 0.0) for cell in cells], np.float32)
        self._sees = np.array([[_sees(model, (cell, other)) for other in cells] for cell in cells])

    def start(self, bits: Array) -> Array:
        return jnp.asarray(self._starts)[picked(bits, len(self._starts))]

    def move(self, game: Array, actions: Array, bits: Array) -> tuple[Array, Array]:
        after = jnp.asarray(self._next)[actions * self._size**2 + game]
        return after, jnp.broadcast_to(self._paid(after), (2,))

    def _paid(self, game: Array) -> Array:
        return jnp.where(game[0] == game[1], jnp.asarray(self._values)[game[0]], 0.0)

    def over(self, game: Array) -> Array:
        return jnp.broadcast_to(self._paid(game) > 0.0, (2,))

    def told(self, game: Array) -> Array:
        is_seen = jnp.asarray(self._sees)[game[0], game[1]]
        places = jnp.stack([game % self._size, game // self._size], axis=-1)
        return jnp.concatenate([places, jnp.where(is_seen, places[::-1], self._size)], axis=-1).astype(jnp.float32)

    def figures(self, game: Array) -> dict[str, Array]:
        """Returns whether the agents met at a goal, and at one of the best."""
        paid = self._paid(game)
        return {"met": paid > 0.0, "best": paid == BEST}

    def described(self, game: Any) -> Cells:
        return int(game[0]), int(game[1])


def _sees(model: CooperativeReaching, cells: Cells) -> bool:
    return model.sample_observations(cells, None, Random(0))[0][1] != UNSEEN
