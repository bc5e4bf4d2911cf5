"""A memory of past inputs under attention: Transformer-XL (Dai et al., 2019), gated as by Parisotto et al. (2020).

One layer. A step attends to itself and to the `window` steps before it, as far as they belong to its episode; what a
step hears depends on how long ago things were, which sine waves encode. Every step reads exactly that many, whether
steps come one at a time or as a long sequence, so a sequence that is learned from gives what was played.
"""

from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from search.learn.api import Array
from search.learn.networks.cores.gru_gate import GruGate
from search.learn.networks.initialisers import dense

LONGEST_WAVE = 10_000.0


class Remembered(NamedTuple):
    """The last inputs of the layer.

    Attributes:
        inputs: float32 [L, W, H], oldest first.
        valid: bool [L, W]: whether there was such a step in the episode in progress.
    """

    inputs: Array
    valid: Array


def waves(count: int, width: int) -> NDArray[np.float32]:
    """Returns the encodings of distances 0 to count - 1, float32 [count, width]: sines, then cosines."""
    rates = LONGEST_WAVE ** (-np.arange(0, width, 2) / width)
    angles = np.arange(count)[:, None] * rates
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)


def skewed(scores: Array) -> Array:
    """Moves row `q` of the last two axes `q` places to the right: [..., b, w] -> [..., b, b + w - 1], zeros beside."""
    rows, columns = scores.shape[-2:]
    padded = jnp.pad(scores, [(0, 0)] * (scores.ndim - 1) + [(0, rows)])
    flat = padded.reshape(*scores.shape[:-2], -1)
    return flat[..., :-rows].reshape(*scores.shape[:-2], rows, rows + columns - 1)


class _Attention(nn.Module):
    """Attention over the window; steps are taken in blocks of up to W, which see the W steps before the block."""

    width: int
    heads: int
    window: int
    dtype: Any

    @nn.compact
    def __call__(self, stream: Array, episodes: Array, steps: int) -> Array:
        """Returns what the last `steps` of stream [W + steps, L, H] hear, [steps, L, H].

        Args:
            stream: remembered steps, then new ones.
            episodes: int32 [W + steps, L]: steps hear those of the same number alone.
            steps: of them new.
        """
        block = min(steps, self.window)
        blocks = -(-steps // block)
        padding = blocks * block - steps
        stream = jnp.pad(stream, [(0, padding), (0, 0), (0, 0)])
        episodes = jnp.pad(episodes, [(0, padding), (0, 0)], constant_values=-2)
        shape = (-1, stream.shape[1], self.heads, self.width // self.heads)
        keys, values = (self._linear(role)(stream).reshape(shape) for role in ("key", "value"))
        queries = self._linear("query")(stream[self.window :]).reshape(blocks, block, *shape[1:])
        own = episodes[self.window :].reshape(blocks, block, -1)
        heard = np.arange(blocks)[:, None] * block + np.arange(self.window + block)
        scores = self._scores(queries, keys[heard])
        later = np.arange(self.window + block) - np.arange(block)[:, None]
        visible = (own[:, :, None] == episodes[heard][:, None]) & ((later >= 0) & (later <= self.window))[..., None]
        visible = visible.transpose(0, 3, 1, 2)[:, :, None]
        shares = jax.nn.softmax(jnp.where(visible, scores, -jnp.inf), axis=-1).astype(values.dtype)
        gathered = jnp.einsum("nlhqk,nklhd->nqlhd", shares, values[heard])
        gathered = gathered.reshape(blocks * block, -1, self.width)[:steps]
        joined: Array = dense(self.width, dtype=self.dtype, name="joined")(gathered)
        return joined

    def _scores(self, queries: Array, keys: Array) -> Array:
        """Returns float32 [blocks, L, heads, block, W + block]: likeness of contents, and preference for distances."""
        each = self.width // self.heads
        distances = self._linear("distance")(waves(self.window + 1, self.width)[::-1])
        distances = distances.reshape(-1, self.heads, each)
        content, place = (
            self.param(name, nn.initializers.zeros, (self.heads, each)).astype(queries.dtype)
            for name in ("content_bias", "distance_bias")
        )
        by_content = jnp.einsum("nqlhd,nklhd->nlhqk", queries + content, keys)
        by_distance = skewed(jnp.einsum("nqlhd,phd->nlhqp", queries + place, distances))
        scores: Array = (by_content + by_distance).astype(jnp.float32) / each**0.5
        return scores

    def _linear(self, name: str) -> nn.Dense:
        return dense(self.width, dtype=self.dtype, name=name)


class TransformerXl(nn.Module):
    """One gated layer with a memory of W steps.

    Attributes:
        width: H, even, of inputs and results alike.
        heads: of attention, a divisor of the width.
        window: W, steps that are remembered.
        gate_bias: how far the two gates are shut at first.
        dtype: of the computation; the memory stays float32, and softmax is taken in float32.
    """

    width: int = 64
    heads: int = 8
    window: int = 32
    gate_bias: float = 2.0
    dtype: Any = None

    def initial_memory(self, lanes: int) -> Remembered:
        """Returns the memory of sequences that have seen nothing."""
        inputs = jnp.zeros((lanes, self.window, self.width), jnp.float32)
        return Remembered(inputs, jnp.zeros((lanes, self.window), bool))

    @nn.compact
    def __call__(self, memory: Remembered, inputs: Array, starts: Array) -> tuple[Remembered, Array]:
        """Reads steps; see `Network.apply`.

        Args:
            memory: of the steps before.
            inputs: [T, L, H].
            starts: bool [T, L].

        Returns:
            The memory after the last step, and the result of every step, [T, L, H].

        Raises:
            ValueError: the inputs are not as wide as the layer.
        """
        if inputs.shape[-1] != self.width:
            raise ValueError(
                f"The layer is {self.width} wide and its inputs {inputs.shape[-1]}: project them to its width first."
            )
        steps = inputs.shape[0]
        now = jnp.cumsum(starts, axis=0, dtype=jnp.int32)
        before = jnp.where(memory.valid, 0, -1).T
        episodes = jnp.concatenate([before, now])
        every = jnp.concatenate([memory.inputs.swapaxes(0, 1), inputs.astype(jnp.float32)])
        stream = nn.LayerNorm(dtype=self.dtype, name="attention_norm")(every)
        heard = _Attention(self.width, self.heads, self.window, self.dtype, name="attention")(stream, episodes, steps)
        hidden = GruGate(self.gate_bias, self.dtype, name="attention_gate")(inputs, nn.relu(heard))
        thought = nn.LayerNorm(dtype=self.dtype, name="dense_norm")(hidden)
        for layer in range(2):
            thought = nn.relu(dense(self.width, dtype=self.dtype, name=f"dense_{layer}")(thought))
        hidden = GruGate(self.gate_bias, self.dtype, name="dense_gate")(hidden, thought)
        kept = (episodes[-self.window :] == episodes[-1]).T
        return Remembered(every[-self.window :].swapaxes(0, 1), kept), hidden
