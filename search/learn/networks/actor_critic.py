"""The whole network: an encoder, a linear layer, a memory, and the heads of actor and critic.

As in the Yōkai Learning Environment paper (section 6.1, appendix D.2), the code world model paper (appendix D.1) and
the POSGGym paper (tables 6 and 8).
"""

from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from search.learn.api import Array, Memory, Observation, Outputs, Params
from search.learn.errors import NetworkConfigError
from search.learn.networks.config import NetworkConfig
from search.learn.networks.cores.gru import Gru
from search.learn.networks.cores.lstm import Lstm
from search.learn.networks.cores.memoryless import Memoryless
from search.learn.networks.cores.rnn import Rnn
from search.learn.networks.cores.transformer_xl import TransformerXl
from search.learn.networks.encoders.cnn import Cnn
from search.learn.networks.encoders.graph import Graph
from search.learn.networks.encoders.slots import Slots
from search.learn.networks.heads.mlp import Mlp
from search.learn.networks.heads.pointer import Pointer
from search.learn.networks.initialisers import dense
from search.learn.play.seats import of_decider


class _Module(nn.Module):
    """The layers; see `ActorCritic`."""

    config: NetworkConfig
    num_actions: int
    rank: int

    @nn.compact
    def __call__(
        self, memory: Memory, observation: Observation, starts: Array, deciders: Array | None = None
    ) -> tuple[Memory, Outputs]:
        config = self.config
        dtype = _dtype(config)
        activation = _activation(config)
        seen = _public_part(observation, config.private_channels) if config.public_private else observation
        encoded = hidden = _encoder(config, self.rank, "encoder")(seen)
        if not config.trunk:
            hidden = activation(dense(config.hidden, dtype=dtype, name="projection")(encoded))
        if config.layer_norm:
            hidden = nn.LayerNorm(dtype=dtype, name="normalised")(hidden)
        memory, hidden = _core(config)(memory, hidden, starts)
        if config.core == "rnn":
            beside = jnp.concatenate([hidden, encoded.astype(hidden.dtype)], axis=-1)
            hidden = activation(dense(config.hidden, dtype=dtype, name="joint")(beside))
        if config.public_private:
            private = _encoder(config, self.rank, "private_encoder")(observation)
            hidden = hidden * activation(dense(config.hidden, dtype=dtype, name="private_projection")(private))
        for layer in range(config.shared_layers):
            hidden = activation(dense(config.hidden, dtype=dtype, name=f"shared_{layer}")(hidden))
        actor = critic = hidden
        if deciders is not None:
            actor, observation = jax.tree.map(lambda leaf: of_decider(leaf, deciders), (actor, observation))
        for layer, width in enumerate(config.head_widths or (config.hidden,) * config.extra_layers):
            actor = activation(dense(width, dtype=dtype, name=f"actor_{layer}")(actor))
            critic = activation(dense(width, dtype=dtype, name=f"critic_{layer}")(critic))
        logits = _scored(config, actor, observation) if config.actions else _linear(self.num_actions, config, actor)
        if logits.shape[-1] != self.num_actions:
            raise NetworkConfigError(
                f"The network's actions have {logits.shape[-1]} logits, but there are {self.num_actions} actions: name "
                "what each points at, in their order."
            )
        values = dense(1, config.head_scale, dtype, name="critic")(critic)
        single = jnp.float32
        return memory, Outputs(logits.astype(single), values[..., 0].astype(single), actor.astype(single))


def _dtype(config: NetworkConfig) -> Any:
    return jnp.bfloat16 if config.bfloat16 else None


def _activation(config: NetworkConfig) -> Callable[[Array], Array]:
    chosen: Callable[[Array], Array] = nn.relu if config.activation == "relu" else nn.tanh
    return chosen


def _encoder(config: NetworkConfig, rank: int, name: str) -> Any:
    dtype = _dtype(config)
    if config.encoder == "cnn":
        return Cnn(config.filters, config.layers, dtype, config.convolutions, name=name)
    if config.encoder == "mlp":
        layers = config.filters, config.layers, rank, _activation(config), dtype, config.trunk, config.values_of
        return Mlp(*layers, name=name)
    if config.encoder == "slots":
        return Slots(*config.objects, config.filters, config.layers, _activation(config), dtype, name=name)
    return Graph(
        config.encoder,
        config.filters,
        config.layers,
        config.graph_heads,
        config.modalities,
        _activation(config),
        dtype,
        name=name,
    )


def _linear(num_actions: int, config: NetworkConfig, hidden: Array) -> Array:
    logits: Array = dense(num_actions, config.head_scale, _dtype(config), name="actor")(hidden)
    return logits


def _scored(config: NetworkConfig, hidden: Array, image: Array) -> Array:
    logits: Array = Pointer(
        config.actions,
        *config.objects,
        config.items,
        config.pointer_width,
        config.head_scale,
        _activation(config),
        _dtype(config),
        name="actor",
    )(hidden, image)
    return logits


def _core(config: NetworkConfig) -> Any:
    dtype = _dtype(config)
    if config.core == "gru":
        return Gru(config.hidden, dtype, name="core")
    if config.core == "lstm":
        return Lstm(config.hidden, name="core")
    if config.core == "rnn":
        return Rnn(config.hidden, dtype, name="core")
    if config.core == "transformer_xl":
        return TransformerXl(config.hidden, config.heads, config.window, dtype=dtype, name="core")
    return Memoryless(name="core")


def _public_part(image: Array, private_channels: int) -> Array:
    """Returns the image with its private channels empty.

    Raises:
        NetworkConfigError: no other channels would be left.
    """
    if image.shape[-1] <= private_channels:
        raise NetworkConfigError(
            f"private_channels is {private_channels}, but the images have {image.shape[-1]} channels: nothing public "
            "would be left for the memory to read."
        )
    return image.at[..., :private_channels].set(0)


class ActorCritic:
    """A network as `Network`.

    Attributes:
        config: which network.
        num_actions: N.
    """

    def __init__(self, config: NetworkConfig, num_actions: int, rank: int = 3) -> None:
        """Sets up a network.

        Args:
            config: which network.
            num_actions: N.
            rank: axes of one observation, for encoders that flatten it: 3 for images, 1 for vectors.
        """
        self.config = config
        self.num_actions = num_actions
        self._module = _Module(config, num_actions, rank)

    def initial_memory(self, lanes: int) -> Memory:
        """Returns the memory of sequences that have seen nothing, leaves [L, ...]."""
        return _core(self.config).initial_memory(lanes)

    def init(self, key: Array, observation: Observation) -> Params:
        """Returns fresh parameters; the observation is one example with leading axes [T, L]."""
        leading = jax.tree.leaves(observation)[0].shape[:2]
        starts = jnp.zeros(leading, bool)
        return self._module.init(key, self.initial_memory(leading[1]), observation, starts)["params"]

    def apply(
        self,
        params: Params,
        memory: Memory,
        observation: Observation,
        starts: Array,
        deciders: Array | None = None,
    ) -> tuple[Memory, Outputs]:
        """Reads T steps of L sequences; see `Network.apply`."""
        result: tuple[Memory, Outputs] = self._module.apply({"params": params}, memory, observation, starts, deciders)
        return result
