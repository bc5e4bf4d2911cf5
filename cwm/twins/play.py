"""Many games of a twin side by side: chance drawn, finished games followed by new ones, all inside compiled loops.

The lane axis is the first one. A game stands at a decision of a player always: what chance does after an action, and
the deals of a new game, are drawn in the same step, by as many rounds as the lane with the most needs.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from cwm.twins.form import TwinForm

CHANCE, TERMINAL = -1, -4
MOST_DIRECT = 64
"""Of more weights, one of blocks of so many is chosen first, then a place in it."""
ROUNDING = 1e-6
"""Share by which sums may be wrong."""


class Seen(NamedTuple):
    """What a twin says of B states.

    Attributes:
        player: int32 [B].
        legal: bool [B, A].
        chance: float32 [B, C].
        rewards: float32 [B, P].
        observations: float32 [B, P, W].
    """

    player: jax.Array
    legal: jax.Array
    chance: jax.Array
    rewards: jax.Array
    observations: jax.Array


class Paid(NamedTuple):
    """What one step of B games paid.

    Attributes:
        rewards: float32 [B, P]: of the action and of what chance did after it.
        done: bool [B]: the game ended; the lane already holds its next one.
    """

    rewards: jax.Array
    done: jax.Array


class TwinGames:
    """Games of one twin.

    Args:
        form: of the twin.
        functions: `init`, `step` and `look` of one game, as `cwm.twins.text.build.function_of` returns them.
    """

    def __init__(self, form: TwinForm, functions: Mapping[str, Callable[..., tuple[Any, ...]]]) -> None:
        self._has_chance = bool(form.outcomes)
        self._init = functions["init"]
        self._step: Any = jax.vmap(functions["step"])
        self._look: Any = jax.vmap(functions["look"])

    def look(self, state: tuple[jax.Array, ...]) -> Seen:
        """Returns everything that can be seen of B games; what is not read costs nothing in a compiled loop."""
        return Seen(*self._look(*state))

    def begin(self, lanes: int, key: jax.Array) -> tuple[jax.Array, ...]:
        """Returns B new games, each at its first decision."""
        fresh = tuple(jnp.broadcast_to(value, (lanes, *value.shape)) for value in self._init())
        return self._drawn(fresh, key)[0]

    def step(
        self, state: tuple[jax.Array, ...], actions: jax.Array, key: jax.Array
    ) -> tuple[tuple[jax.Array, ...], Paid]:
        """Takes one action in every game, draws what chance does, and begins new games where some ended.

        Args:
            state: B games at decisions.
            actions: int32 [B], legal ones.
            key: from which chance is drawn.
        """
        later, deals = jax.random.split(key)
        acted = tuple(self._step(*state, actions))
        paid = self.look(acted).rewards
        drawn, added = self._drawn(acted, later)
        done = self.look(drawn).player == TERMINAL
        fresh = self._init()
        begun = tuple(
            jnp.where(done.reshape(-1, *(1,) * (old.ndim - 1)), new[None], old)
            for new, old in zip(fresh, drawn, strict=True)
        )
        return self._drawn(begun, deals)[0], Paid(paid + added, done)

    def _drawn(self, state: tuple[jax.Array, ...], key: jax.Array) -> tuple[tuple[jax.Array, ...], jax.Array]:
        """Lets chance act until every game is at a decision or over; returns the games and what was paid meanwhile."""
        paid = jnp.zeros_like(self.look(state).rewards)
        if not self._has_chance:
            return state, paid

        def waiting(carry: Any) -> jax.Array:
            return jnp.any(self.look(carry[0]).player == CHANCE)

        def draw(carry: Any) -> Any:
            games, key, paid = carry
            key, now = jax.random.split(key)
            seen = self.look(games)
            at_chance = seen.player == CHANCE
            stepped = self._step(*games, chosen(seen.chance, jax.random.uniform(now, at_chance.shape)))
            games = tuple(
                jnp.where(at_chance.reshape(-1, *(1,) * (old.ndim - 1)), new, old)
                for new, old in zip(stepped, games, strict=True)
            )
            return games, key, paid + jnp.where(at_chance[:, None], self.look(games).rewards, 0.0)

        games, _, paid = lax.while_loop(waiting, draw, (state, key, paid))
        return games, paid


def uniform_actions(legal: jax.Array, key: jax.Array) -> jax.Array:
    """Returns uniformly drawn legal actions, int32 [B].

    Args:
        legal: bool [B, A].
        key: that decides.
    """
    return chosen(legal.astype(jnp.float32), jax.random.uniform(key, legal.shape[:1]))


def chosen(weights: jax.Array, uniform: jax.Array) -> jax.Array:
    """Returns places drawn by weights, int32 [B].

    Args:
        weights: float32 [B, N], from 0 on.
        uniform: float32 [B], from 0 to 1, which decide.
    """
    size = weights.shape[1]
    if size <= MOST_DIRECT:
        sums = _sums(weights)
        # Below the whole sum in spite of rounding, and never a place of weight 0.
        bar = jnp.minimum(uniform, 1.0 - ROUNDING)[:, None] * sums[:, -1:]
        return jnp.argmax(sums > bar, axis=1).astype(jnp.int32)
    # Sums over thousands of places one by one are what takes longest in a step; those over a few of them do not.
    blocks = jnp.pad(weights, ((0, 0), (0, -size % MOST_DIRECT))).reshape(len(weights), -1, MOST_DIRECT)
    each = blocks.sum(axis=2)
    ends = _sums(each)
    bar = jnp.minimum(uniform, 1.0 - ROUNDING)[:, None] * ends[:, -1:]
    which = jnp.argmax((ends > bar) & (each > 0), axis=1)[:, None]
    own = _sums(jnp.take_along_axis(blocks, which[..., None], axis=1)[:, 0])
    left = bar - (jnp.take_along_axis(ends, which, axis=1) - jnp.take_along_axis(each, which, axis=1))
    left = jnp.clip(left, 0.0, (1.0 - ROUNDING) * own[:, -1:])
    return (which[:, 0] * MOST_DIRECT + jnp.argmax(own > left, axis=1)).astype(jnp.int32)


def _sums(rows: jax.Array) -> jax.Array:
    """Returns the sums of [B, N] up to every place, itself included: one product with a triangle."""
    return rows @ jnp.triu(jnp.ones((rows.shape[1],) * 2, rows.dtype))


def rate_loop(games: TwinGames, lanes: int, steps: int) -> Callable[[Any, jax.Array], Any]:
    """Returns a compiled loop of random play: masks, observations of who is to move, rewards and new games, all summed.

    Args:
        games: of a twin.
        lanes: games at once.
        steps: of one call.
    """

    def once(carry: Any, key: jax.Array) -> tuple[Any, None]:
        state, total = carry
        seen = games.look(state)
        choose, chance = jax.random.split(key)
        own = jnp.take_along_axis(seen.observations, seen.player[:, None, None], axis=1)
        state, played = games.step(state, uniform_actions(seen.legal, choose), chance)
        return (state, total + own.sum() + seen.legal.sum() + played.rewards.sum() + played.done.sum()), None

    def loop(carry: Any, key: jax.Array) -> Any:
        return lax.scan(once, carry, jax.random.split(key, steps))[0]

    return jax.jit(loop)
