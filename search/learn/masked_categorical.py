"""A categorical distribution over the legal actions."""

import jax
import jax.numpy as jnp

from search.learn.api import Array

MASKED = -1e9
"""Logit of an action that is not legal: its probability is exactly 0 in float32."""


def masked(logits: Array, legal: Array) -> Array:
    """Returns logits [..., N] with those of illegal actions, where bool [..., N] is false, out of reach."""
    return jnp.where(legal, logits, jnp.asarray(MASKED, logits.dtype))


def log_probabilities(logits: Array, legal: Array) -> Array:
    """Returns the logarithms of the probabilities, float32 [..., N]; `MASKED` or less for illegal actions."""
    return jax.nn.log_softmax(masked(logits, legal), axis=-1)


def log_probability(logits: Array, legal: Array, action: Array) -> Array:
    """Returns the logarithm of the probability of each action, int32 [...] -> float32 [...].

    A sum that leaves one of a row: taken out by its number, its slope would be scattered into a row of zeros.
    """
    every = log_probabilities(logits, legal)
    is_taken = action[..., None] == jnp.arange(every.shape[-1], dtype=jnp.int32)
    return jnp.where(is_taken, every, 0).sum(axis=-1)


def entropy(logits: Array, legal: Array) -> Array:
    """Returns the entropy in nats, float32 [...]; 0 where one action alone is legal."""
    every = log_probabilities(logits, legal)
    return -jnp.where(legal, jnp.exp(every) * every, 0).sum(axis=-1)


def sample(key: Array, logits: Array, legal: Array) -> Array:
    """Draws an action for each row, int32 [...]: those that `jax.random.categorical` draws."""
    return _first_highest(jax.random.gumbel(key, logits.shape, logits.dtype) + masked(logits, legal))


def greedy(logits: Array, legal: Array) -> Array:
    """Returns the likeliest action of each row, int32 [...]; the lowest-numbered one of several."""
    return _first_highest(masked(logits, legal))


def _first_highest(values: Array) -> Array:
    """Returns where each row is highest, int32 [...]; the first of several places.

    Two plain reductions: on processors, one that carries value and place together (`jnp.argmax`) takes several times
    as long as drawing all the noise.
    """
    last = values.shape[-1] - 1
    is_highest = values == values.max(axis=-1, keepdims=True)
    return jnp.where(is_highest, jnp.arange(last + 1, dtype=jnp.int32), last).min(axis=-1)
