"""What a game hides: slots that each hold one of a few kinds, every kind in a fixed number of slots."""

from collections.abc import Callable
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

import jax
import jax.numpy as jnp

from search.learn.api import Array

UNKNOWN: Final = -1
"""In place of a slot's kind."""
IMPOSSIBLE: Final = -1e9
"""Logit of a kind that is used up: its probability is exactly 0 in float32."""

Propose: TypeAlias = Callable[[Array, Array], Array]
"""What a sampler thinks of a slot: (slot int32 [], kinds so far int32 [..., S]) -> logits float32 [..., K]."""


class HiddenSlots(Protocol):
    """How E batched games keep what they hide; S slots, K kinds, P players."""

    @property
    def counts(self) -> tuple[int, ...]:
        """How many slots hold each kind, K numbers that add up to S."""
        ...

    def truth(self, games: Any) -> Array:
        """Returns what the slots hold, int32 [E, S]."""
        ...

    def known(self, games: Any) -> Array:
        """Returns what each player has seen itself, int32 [E, P, S]; `UNKNOWN` for the rest."""
        ...

    def with_hidden(self, games: Any, kinds: Array) -> Any:
        """Returns the games as they would stand if the slots held other kinds, int32 [E, S]."""
        ...


@runtime_checkable
class HintedSlots(HiddenSlots, Protocol):
    """Slots of which players are told more than what they see, so that the game itself draws from the exact belief."""

    def drawn(self, games: Any, player: Array, key: Array) -> Array:
        """Draws what the slots hold as one player of each game may believe, all that fits equally likely.

        Args:
            games: E games.
            player: int32 [E], who believes.
            key: typed key [].

        Returns:
            int32 [E, S], consistent with what the player knows and was told.
        """
        ...


def left_over(assigned: Array, counts: tuple[int, ...]) -> Array:
    """Returns how many slots of each kind are still to be filled.

    Args:
        assigned: int32 [..., S], `UNKNOWN` for slots without a kind.
        counts: slots by kind.

    Returns:
        float32 [..., K].
    """
    taken = (assigned[..., None] == jnp.arange(len(counts))).sum(axis=-2)
    return jnp.maximum(jnp.asarray(counts) - taken, 0).astype(jnp.float32)


def log_weights(logits: Array, assigned: Array, counts: tuple[int, ...]) -> Array:
    """Returns the log-probabilities of a slot's kind, float32 [..., K].

    Logits are relative to the number of slots that each kind still has to fill: with equal ones, filling slot after
    slot draws every consistent assignment with the same probability; a kind that is used up is never drawn.

    Args:
        logits: float32 [..., K].
        assigned: int32 [..., S], the kinds of the other slots, where they have one.
        counts: slots by kind.
    """
    left = left_over(assigned, counts)
    scaled = jnp.where(left > 0, logits + jnp.log(jnp.maximum(left, 1.0)), IMPOSSIBLE)
    return jax.nn.log_softmax(scaled, axis=-1)


def complete(known: Array, counts: tuple[int, ...], propose: Propose, key: Array) -> Array:
    """Draws kinds for all slots that have none, one slot after the other.

    Args:
        known: int32 [..., S], kept where it is not `UNKNOWN`.
        counts: slots by kind.
        propose: what to think of each slot.
        key: typed key [].

    Returns:
        int32 [..., S], every kind in as many slots as it has to be.
    """
    slots = jnp.arange(known.shape[-1])

    def fill(assigned: Array, now: tuple[Array, Array]) -> tuple[Array, None]:
        slot, key = now
        drawn = jax.random.categorical(key, log_weights(propose(slot, assigned), assigned, counts), axis=-1)
        here = (slots == slot) & (assigned == UNKNOWN)
        return jnp.where(here, drawn[..., None].astype(assigned.dtype), assigned), None

    filled, _ = jax.lax.scan(fill, known, (slots, jax.random.split(key, len(slots))))
    return filled


def prefixes(known: Array, truth: Array) -> Array:
    """Returns what `complete` would have before it each time if it drew the truth.

    Args:
        known: int32 [..., S].
        truth: int32 [..., S].

    Returns:
        int32 [..., S, S]: for every slot, the kinds of the slots before it and of the known ones.
    """
    slots = jnp.arange(known.shape[-1])
    earlier = slots[None, :] < slots[:, None]
    return jnp.where(earlier, truth[..., None, :], known[..., None, :])
