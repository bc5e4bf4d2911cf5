"""The rectifier, with a way back that needs what it returned alone.

JAX's own keeps what it was given. Where that is the sum of a convolution, it would be written to memory besides the
result, and could not be cut off by the convolution itself.
"""

import jax
import jax.numpy as jnp

from search.learn.api import Array


@jax.custom_vjp
def relu(values: Array) -> Array:
    """Returns the values above 0, and 0 for the others; the slope at 0 is 0, as in `jax.nn.relu`."""
    return jnp.maximum(values, 0)


def _forward(values: Array) -> tuple[Array, Array]:
    cut: Array = jax.lax.optimization_barrier(relu(values))  # type: ignore[no-untyped-call]
    return cut, cut


def _backward(cut: Array, slopes: Array) -> tuple[Array]:
    return (jnp.where(cut > 0, slopes, 0),)


relu.defvjp(_forward, _backward)
