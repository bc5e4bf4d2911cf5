"""Other-Play: every player sees every game through a symmetry of its own, drawn when the game is dealt."""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import jax
import jax.numpy as jnp

from games.batched.api import Array, BatchedEnv, Outcome, Transition, lanes_first, lanes_last

S = TypeVar("S")


class SymmetryGroup(Protocol):
    """Symmetries of a game, numbered from 0: the game is the same whichever a player sees it through.

    Numbers may be traced scalars; what is mapped is that of one player.
    """

    def __len__(self) -> int: ...

    def action(self, number: Any, action: Any) -> Any:
        """Returns the image of an action, int32 []."""
        ...

    def inverse_action(self, number: Any, action: Any) -> Any:
        """Returns the action, int32 [], whose image is the given one."""
        ...

    def mask(self, number: Any, mask: Any) -> Any:
        """Returns the image of a mask of legal actions, bool [N]."""
        ...

    def image(self, number: Any, image: Any) -> Any:
        """Returns the image of what a player sees, float32 [*image_shape]."""
        ...


class TransformedState(NamedTuple):
    """A game and how its players see it.

    Attributes:
        game: the game itself.
        symmetry: int32 [P], number of each player's symmetry.
    """

    game: Any
    symmetry: Array


class OtherPlay(Generic[S]):
    """A batched environment, each player's actions, masks and observations seen through its symmetry."""

    def __init__(self, env: BatchedEnv[S], symmetries: SymmetryGroup) -> None:
        self.env = env
        self.symmetries = symmetries

    @property
    def num_players(self) -> int:
        return self.env.num_players

    @property
    def num_actions(self) -> int:
        return self.env.num_actions

    @property
    def image_shape(self) -> tuple[int, int, int]:
        return self.env.image_shape

    def init(self, key: Array) -> TransformedState:
        """Returns a freshly dealt game, every player with a symmetry drawn uniformly and independently."""
        if key.ndim:
            pairs = jax.vmap(jax.random.split)(key)
            symmetry = lanes_last(jax.vmap(self._draw)(pairs[:, 1]), True)
            return TransformedState(self.env.init(pairs[:, 0]), symmetry)
        deal, draw = jax.random.split(key)
        return TransformedState(self.env.init(deal), self._draw(draw))

    def _draw(self, key: Array) -> Array:
        return jax.random.randint(key, (self.num_players,), 0, len(self.symmetries))

    def step(self, state: TransformedState, actions: Array, keys: Array) -> tuple[TransformedState, Transition]:
        """Plays one action of every player, int32 [P], as the players see them."""
        own = self._through(state, self._original, jnp.asarray(actions, jnp.int32))
        game, transition = self.env.step(state.game, own, keys)
        return TransformedState(game, state.symmetry), transition

    def _original(self, number: Array, action: Array) -> Array:
        known = (action >= 0) & (action < self.num_actions)
        found = self.symmetries.inverse_action(number, jnp.where(known, action, 0))
        return jnp.where(known, found, action)

    def _through(self, state: TransformedState, transform: Callable[..., Array], values: Array) -> Array:
        mapped = jax.vmap(transform)
        lanes = state.symmetry.ndim > 1
        result: Array = (jax.vmap(mapped) if lanes else mapped)(lanes_first(state.symmetry, lanes), values)
        return result

    def legal_mask(self, state: TransformedState) -> Array:
        """Returns which actions are legal as the players see them, bool [P, N]."""
        return self._through(state, self.symmetries.mask, self.env.legal_mask(state.game))

    def sample(self, state: TransformedState, uniform: Array) -> Array:
        """Returns uniformly drawn legal actions as the players see them, int32 [P]."""
        return self._through(state, self.symmetries.action, self.env.sample(state.game, uniform))

    def observe(self, state: TransformedState) -> Array:
        """Returns what every player sees, float32 [P, *image_shape]."""
        return self._through(state, self.symmetries.image, self.env.observe(state.game))

    def is_over(self, state: TransformedState) -> Array:
        return self.env.is_over(state.game)

    def outcome(self, state: TransformedState) -> Outcome:
        return self.env.outcome(state.game)
