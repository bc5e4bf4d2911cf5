"""What every batched environment offers: many games at once as pure functions of arrays and keys.

Lanes: every function takes one game, whose arrays have the documented shapes, or `B` games at once. In a *state* the
lane axis is the last one of every array, so that one instruction serves neighbouring lanes; in everything that leaves
the environment (observations, masks, rewards) it is the first one, as networks expect. `jax.vmap` over the functions
of one game works too. A state holds arrays alone and no key: whoever reads it cannot foresee what chance will do.

Chance in a step draws from the keys that the step is given. A game that draws nothing after its deal ignores them, and
in a compiled loop nothing is then computed for them.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

import jax
import jax.numpy as jnp

Array: TypeAlias = jax.Array
S = TypeVar("S")

CHANCE: Final = 0x6368616E
"""Tells keys of chance from those that `jax.random.split` makes of the same key, which count from 0."""


class Transition(NamedTuple):
    """What one step paid.

    Attributes:
        reward: float32 [P]: what the game pays every player.
        done: bool []: the game ended with this step.
        info: `illegal` bool [P]: the player's action was not legal, its lowest-numbered legal one was played instead;
            `shaping` float32 [P]: training signal that is never part of the reward.
    """

    reward: Array
    done: Array
    info: dict[str, Array]


class Outcome(NamedTuple):
    """What came of a finished game; before the end, of the position as it stands.

    Attributes:
        total: float32 []: the return, the same for every player.
        length: int32 []: actions of players.
        figures: what else is told of a game of this kind, by name; bool, int32 or float32 [].
    """

    total: Array
    length: Array
    figures: dict[str, Array]


GAMES: Final = "games"
TOTAL: Final = "total"
LENGTH: Final = "length"

Means: TypeAlias = Mapping[str, tuple[str, str]]
"""Metrics by name: a sum over finished games, of `TOTAL`, `LENGTH` or a figure, and what it is divided by: `GAMES`, or
another such sum."""


class BatchedEnv(Protocol[S]):
    """A cooperative game of P players with N numbered actions. The shapes are those of one game; see the module."""

    @property
    def num_players(self) -> int: ...

    @property
    def num_actions(self) -> int: ...

    @property
    def image_shape(self) -> tuple[int, int, int]: ...

    def init(self, key: Array) -> S:
        """Returns a freshly dealt game.

        Args:
            key: a typed key (`jax.random.key`) [], or [B] of them for B lanes.
        """
        ...

    def step(self, state: S, actions: Array, keys: Array) -> tuple[S, Transition]:
        """Plays one action of every player; a finished game stays as it is and pays nothing.

        Args:
            state: the game.
            actions: int32 [P].
            keys: a typed key [], or [B] of them for B lanes, new at every step, from which chance draws.
        """
        ...

    def legal_mask(self, state: S) -> Array:
        """Returns which actions are legal, bool [P, N]; where a player has no choice, its no-op alone."""
        ...

    def sample(self, state: S, uniform: Array) -> Array:
        """Returns uniformly drawn legal actions, int32 [P].

        Args:
            state: the game.
            uniform: float32 [] in [0, 1), which decides.
        """
        ...

    def observe(self, state: S) -> Array:
        """Returns what every player sees as an image, float32 [P, *image_shape]."""
        ...

    def is_over(self, state: S) -> Array:
        """Whether the game has ended, bool []."""
        ...

    def outcome(self, state: S) -> Outcome: ...


@runtime_checkable
class Restarts(Protocol[S]):
    """An environment in whose games time passes: any position of one can be made the beginning of another."""

    def restarted(self, state: S) -> S:
        """Returns the position as the beginning of a game: nothing was paid yet, and no time has passed."""
        ...


def chance_keys(keys: Array) -> Array:
    """Returns keys for the chance of a step: others than any that are split from the given ones.

    Args:
        keys: typed keys of any shape, from which something else is drawn, too.
    """

    def folded(key: Array) -> Array:
        return jax.vmap(folded)(key) if key.ndim else jax.random.fold_in(key, CHANCE)

    return folded(keys)


def lane(state: S, index: int) -> S:
    """Returns one lane of a state as a game of its own, without a lane axis."""
    taken: S = jax.tree.map(lambda array: array[..., index], state)
    return taken


def stack(states: list[S]) -> S:
    """Returns games without lane axis as the lanes of one state."""
    stacked: S = jax.tree.map(lambda *arrays: jnp.stack(arrays, axis=-1), *states)
    return stacked


def concatenate(states: list[S]) -> S:
    """Returns the lanes of several states as one state."""
    joined: S = jax.tree.map(lambda *arrays: jnp.concatenate(arrays, axis=-1), *states)
    return joined


def lanes_first(array: Array, has_lanes: bool) -> Array:
    """Moves the lane axis, if there is one, from the last place to the first."""
    return jnp.moveaxis(array, -1, 0) if has_lanes else array


def lanes_last(array: Array, has_lanes: bool) -> Array:
    """Moves the lane axis, if there is one, from the first place to the last."""
    return jnp.moveaxis(array, 0, -1) if has_lanes else array


def along(table: Any, like: Array) -> Array:
    """Returns a constant table with a lane axis of length 1 appended if `like`, a per-lane scalar, has lanes."""
    values = jnp.asarray(table)
    return values[..., None] if like.ndim else values
