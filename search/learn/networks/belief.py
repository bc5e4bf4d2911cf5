"""The network of a learned belief: an encoder with memory, and a decoder that fills slots one after the other.

As in the Yōkai Learning Environment paper (section 5.2): an LSTM reads what a player sees, and an autoregressive
decoder gives a kind to every slot.
"""

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

import flax.linen as nn
import jax
import jax.numpy as jnp

from search.learn.api import Array, Observation
from search.learn.errors import NetworkConfigError
from search.learn.networks.cores.lstm import Lstm, LstmMemory
from search.learn.networks.encoders.cnn import Cnn
from search.learn.networks.heads.mlp import Mlp
from search.learn.networks.initialisers import dense
from search.learn.ranges import is_number, is_whole

BeliefEncoder = Literal["cnn", "mlp"]


@dataclass(frozen=True)
class BeliefConfig:
    """Which network.

    Attributes:
        encoder: how an image becomes a vector: `cnn` or `mlp` (flattened).
        filters: of each convolution, or the width of an `mlp`'s layers.
        layers: convolutions, or layers of the `mlp`.
        hidden: width of the linear layer after the encoder, of the LSTM and of the decoder.
        head_scale: of the last layer's orthogonal weights; with 0, a fresh network believes in every consistent
            assignment equally.
    """

    encoder: BeliefEncoder = "cnn"
    filters: int = 64
    layers: int = 4
    hidden: int = 256
    head_scale: float = 0.0

    def __post_init__(self) -> None:
        if self.encoder not in get_args(BeliefEncoder):
            known = " or ".join(get_args(BeliefEncoder))
            raise NetworkConfigError(f"a belief's encoder is {self.encoder!r}: expected {known}.")
        for name in ("filters", "layers", "hidden"):
            if not is_whole(getattr(self, name), 1):
                raise NetworkConfigError(
                    f"a belief's {name} is {getattr(self, name)}: expected a whole number from 1 on."
                )
        if not is_number(self.head_scale, 0):
            raise NetworkConfigError(f"a belief's head_scale is {self.head_scale}: expected a number from 0 on.")

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "BeliefConfig":
        """Builds a configuration; keys that a newer version wrote are left out."""
        known = {item.name for item in fields(cls)}
        return cls(**{key: value for key, value in data.items() if key in known})


class BeliefNetwork(nn.Module):
    """The layers.

    Attributes:
        config: which network.
        slots: S.
        kinds: K.
        rank: axes of one observation: 3 for images.
    """

    config: BeliefConfig
    slots: int
    kinds: int
    rank: int = 3

    def setup(self) -> None:
        config = self.config
        if config.encoder == "cnn":
            self.encoder: Any = Cnn(config.filters, config.layers)
        else:
            self.encoder = Mlp(config.filters, config.layers, self.rank, nn.relu)
        self.projection = dense(config.hidden)
        self.core = Lstm(config.hidden)
        self.from_features = dense(config.hidden)
        self.from_assigned = dense(config.hidden)
        self.from_slot = dense(config.hidden)
        self.joint = dense(config.hidden)
        self.head = dense(self.kinds, config.head_scale)

    def encode(self, memory: LstmMemory, observation: Observation, starts: Array) -> tuple[LstmMemory, Array]:
        """Reads T steps of L sequences; returns the memory and features, float32 [T, L, hidden]."""
        hidden = nn.relu(self.projection(self.encoder(observation)))
        memory, hidden = self.core(memory, hidden, starts)
        return memory, hidden

    def decode(self, features: Array, slot: Array, assigned: Array) -> Array:
        """Returns logits of a slot's kind.

        Args:
            features: float32 [..., hidden].
            slot: int32 [...], or of fewer axes.
            assigned: int32 [..., S], kinds so far, -1 for none.

        Returns:
            float32 [..., K].
        """
        others = jax.nn.one_hot(assigned, self.kinds).reshape(*assigned.shape[:-1], -1)
        which = jax.nn.one_hot(slot, self.slots)
        hidden = self.from_features(features) + self.from_assigned(others) + self.from_slot(which)
        logits: Array = self.head(nn.relu(self.joint(nn.relu(hidden))))
        return logits

    def __call__(self, memory: LstmMemory, observation: Observation, starts: Array) -> Array:
        """Runs every layer once, so that all parameters are made."""
        _, features = self.encode(memory, observation, starts)
        empty = jnp.full((*starts.shape, self.slots), -1, jnp.int32)
        return self.decode(features, jnp.zeros((), jnp.int32), empty)
