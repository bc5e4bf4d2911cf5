"""A gated recurrent unit over sequences that hold several episodes.

The products of the input weights are taken for all steps at once; only those of the memory are inside the loop. The
way back is written out, because what JAX derives from the loop stores a dozen arrays one by one in every step and
adds to the gradient of the weights step by step: on an accelerator each of these is a kernel to launch. Here a step
stores its memory and its gates, and its way back is one product.
"""

from typing import Any, NamedTuple, TypeAlias

import flax.linen as nn
import jax
import jax.numpy as jnp

from search.learn.api import Array
from search.learn.networks.initialisers import dense

GATES = 3


def orthogonal_gates(key: Array, shape: tuple[int, int], dtype: Any = jnp.float32) -> Array:
    """Returns one orthogonal matrix a gate, side by side, float32 [H, gates * H]."""
    width = shape[0]
    made = [
        nn.initializers.orthogonal()(one, (width, width), dtype) for one in jax.random.split(key, shape[1] // width)
    ]
    return jnp.concatenate(made, axis=1)


class Gates(NamedTuple):
    """What a step computes on its way to the next memory; all [..., L, H].

    Attributes:
        reset: in (0, 1), how much of the memory the new value is shown.
        update: in (0, 1), how much of the memory stays.
        shown: what `reset` multiplies.
        new: in (-1, 1), the new value.
    """

    reset: Array
    update: Array
    shown: Array
    new: Array


def gates(driven: Array, kept: Array, shift: Array) -> Gates:
    """Returns the gates of steps.

    Args:
        driven: [..., L, 3 H], products with the inputs.
        kept: [..., L, 3 H], products with the memory before the step.
        shift: [H], of what the new value is shown.
    """
    reset_in, update_in, new_in = jnp.split(driven, GATES, axis=-1)
    reset_kept, update_kept, new_kept = jnp.split(kept, GATES, axis=-1)
    reset, shown = jax.nn.sigmoid(reset_in + reset_kept), new_kept + shift
    return Gates(reset, jax.nn.sigmoid(update_in + update_kept), shown, jnp.tanh(new_in + reset * shown))


@jax.custom_vjp
def recur(weights: Array, shift: Array, memory: Array, driven: Array, starts: Array) -> Array:
    """Returns the memory after every step, [T, L, H] in the type of `driven`.

    Args:
        weights: [H, 3 H].
        shift: [H].
        memory: [L, H], before the first step.
        driven: [T, L, 3 H].
        starts: bool [T, L], where the memory is emptied first.
    """
    return _run(weights, shift, memory, driven, starts, keep=False)[0]


def _run(
    weights: Array, shift: Array, memory: Array, driven: Array, starts: Array, keep: bool
) -> tuple[Array, Array | None]:
    """Returns what `recur` does, and, to be kept, the gates of every step side by side, [T, L, 4 H]."""

    def step(memory: Array, now: tuple[Array, Array]) -> tuple[Array, tuple[Array, Array | None]]:
        driven_now, start = now
        memory = jnp.where(start[:, None], 0, memory)
        found = gates(driven_now, memory @ weights, shift)
        memory = (1 - found.update) * found.new + found.update * memory
        return memory, (memory, jnp.concatenate(found, axis=-1) if keep else None)

    every: tuple[Array, Array | None] = jax.lax.scan(step, memory, (driven, starts))[1]
    return every


Residuals: TypeAlias = tuple[Array, Array, Array, Array, Array]


def _forward(weights: Array, shift: Array, memory: Array, driven: Array, starts: Array) -> tuple[Array, Residuals]:
    after, found = _run(weights, shift, memory, driven, starts, keep=True)
    assert found is not None
    return after, (weights, memory, starts, after, found)


def _backward(residuals: Residuals, slopes: Array) -> tuple[Array, Array, Array, Array, None]:
    """Returns the gradients by `weights`, `shift`, `memory` and `driven`, from that by what `recur` returned."""
    weights, memory, starts, after, kept = residuals
    kind = after.dtype
    emptied = starts[:, :, None]
    before = jnp.where(emptied, 0, jnp.concatenate([memory[None], after[:-1]]))
    found = Gates(*jnp.split(kept, len(Gates._fields), axis=-1))
    # What each gate's sum, before its squashing, adds to the memory after the step.
    by_new = (1 - found.update) * (1 - found.new**2)
    by_reset = by_new * found.shown * found.reset * (1 - found.reset)
    by_update = (before - found.new) * found.update * (1 - found.update)
    by_kept = jnp.stack([by_reset, by_update, by_new * found.reset], axis=2)

    def step(slope: Array, now: tuple[Array, Array, Array, Array]) -> tuple[Array, Array]:
        own, parts, update, start = now
        slope = slope + own
        through = (slope[:, None].astype(kind) * parts).reshape(len(slope), -1) @ weights.T
        return jnp.where(start, 0, slope * update + through), slope

    # Sums over many steps are kept in float32, whatever the rest is computed in.
    nothing = jnp.zeros(memory.shape, jnp.float32)
    first, every = jax.lax.scan(step, nothing, (slopes, by_kept, found.update, emptied), reverse=True)
    every = every.astype(kind)
    flat = (every[:, :, None] * by_kept).reshape(*every.shape[:2], -1)
    shown_slope = flat[..., -memory.shape[-1] :]
    driven_slope = jnp.concatenate([flat[..., : -memory.shape[-1]], every * by_new], axis=-1)
    weights_slope = jnp.einsum("tlh,tlg->hg", before, flat)
    return weights_slope, shown_slope.sum(axis=(0, 1)), first.astype(kind), driven_slope, None


recur.defvjp(_forward, _backward)


class Gru(nn.Module):
    """A gated recurrent unit (Cho et al., 2014); the memory is float32 [L, H].

    Attributes:
        width: H.
        dtype: of the computation; the memory is kept as float32.
    """

    width: int = 256
    dtype: Any = None

    def initial_memory(self, lanes: int) -> Array:
        """Returns the memory of sequences that have seen nothing, float32 [L, H]."""
        return jnp.zeros((lanes, self.width), jnp.float32)

    @nn.compact
    def __call__(self, memory: Array, inputs: Array, starts: Array) -> tuple[Array, Array]:
        """Reads steps; see `Network.apply`.

        Args:
            memory: float32 [L, H].
            inputs: [T, L, E].
            starts: bool [T, L].

        Returns:
            The memory after the last step, and that after every step, [T, L, H].
        """
        driven = dense(GATES * self.width, scale=1.0, dtype=self.dtype, name="input")(inputs)
        weights = self.param("memory", orthogonal_gates, (self.width, GATES * self.width))
        shift = self.param("memory_bias", nn.initializers.zeros, (self.width,))
        weights, shift, memory = (part.astype(driven.dtype) for part in (weights, shift, memory))
        after = recur(weights, shift, memory, driven, starts)
        return after[-1].astype(jnp.float32), after
