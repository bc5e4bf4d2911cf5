"""Keys of batched games from explicit seeds."""

import random

import jax
import jax.numpy as jnp

from games.batched.api import Array


def root_key(*parts: str | int) -> Array:
    """Returns a typed key that follows from all parts: words, and whole numbers of any size."""
    source = random.Random("/".join(str(part) for part in parts))
    words = jnp.array([source.getrandbits(32), source.getrandbits(32)], jnp.uint32)
    key: Array = jax.random.wrap_key_data(words, impl="threefry2x32")
    return key
