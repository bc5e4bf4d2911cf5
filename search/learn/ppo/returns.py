"""Generalised advantage estimation (Schulman et al., 2016)."""

import jax
import jax.numpy as jnp

from search.learn.api import Array


def advantages(
    rewards: Array, values: Array, done: Array, last_value: Array, discount: float, decay: float
) -> tuple[Array, Array]:
    """Returns advantages and targets of the value.

    Args:
        rewards: float32 [T, L], what each step paid.
        values: float32 [T, L], estimates before each step.
        done: bool [T, L]: the episode ended with the step; nothing that comes later counts for it.
        last_value: float32 [L], estimate after the last step; not read where that step was the last of its episode.
        discount: γ.
        decay: λ; 1 gives returns less values, 0 one-step temporal differences.

    Returns:
        Advantages float32 [T, L], and advantages plus values, what the critic is to learn.
    """
    going_on = 1.0 - done.astype(jnp.float32)

    def step(carry: tuple[Array, Array], now: tuple[Array, Array, Array]) -> tuple[tuple[Array, Array], Array]:
        advantage, following = carry
        reward, value, open_end = now
        surprise = reward + discount * following * open_end - value
        advantage = surprise + discount * decay * open_end * advantage
        return (advantage, value), advantage

    start = (jnp.zeros_like(last_value), last_value)
    _, found = jax.lax.scan(step, start, (rewards, values, going_on), reverse=True)
    return found, found + values


def normalised(values: Array, counted: Array | None = None) -> Array:
    """Returns the values with mean 0 and standard deviation 1.

    Args:
        values: float32 of any shape.
        counted: bool of the same shape, the values that are meant, the rest becoming 0; None for all.
    """
    found = (values - values.mean(where=counted)) / (values.std(where=counted) + 1e-8)
    return found if counted is None else jnp.where(counted, found, 0.0)
