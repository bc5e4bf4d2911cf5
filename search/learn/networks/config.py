"""Which network: plain data that is stored with every checkpoint."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Literal, TypeAlias, get_args

from search.learn.added_fields import without_defaults
from search.learn.errors import NetworkConfigError
from search.learn.ranges import is_number, is_whole

EncoderName: TypeAlias = Literal["cnn", "mlp", "slots", "gatv2", "gcn", "relation"]
CoreName: TypeAlias = Literal["gru", "lstm", "transformer_xl", "rnn", "none"]
Activation: TypeAlias = Literal["relu", "tanh"]
ActionKind: TypeAlias = Literal["plain", "objects", "objects at cells", "items", "items at cells"]
"""What a run of numbered actions points at, see `NetworkConfig.actions`."""
Modality: TypeAlias = tuple[int, int, int]
"""Channels of a node that mean one thing: the first, the one after the last, and the width of their embedding."""

Convolution: TypeAlias = tuple[int, int]
"""Side of the kernel, an odd number, and filters of a zero-padded convolution."""
Values: TypeAlias = tuple[int, int]
"""What a place of a vector may hold: the lowest whole number, and how many there are from it on."""

IMAGES: Final = ("cnn", "mlp", "slots")
"""Encoders that read images."""
GRAPHS: Final = ("gatv2", "gcn", "relation")
"""Encoders whose observations are graphs: a tree with `nodes` [..., V, f] and `adjacency` [..., Y, Y]."""
COUNTS: Final = (
    "hidden",
    "filters",
    "layers",
    "heads",
    "window",
    "graph_heads",
    "pointer_width",
    "extra_layers",
    "shared_layers",
)
ADDED: Final = ("convolutions", "layer_norm", "shared_layers", "trunk", "head_widths", "values_of")
"""Fields that older checkpoints do not have: told where they are not at their defaults alone."""


@dataclass(frozen=True)
class NetworkConfig:
    """One network; the defaults are those of the Yōkai Learning Environment paper (section 6.1, appendix D.2).

    Attributes:
        encoder: how an observation becomes a vector: `cnn` (images [..., height, width, channels]), `mlp` (any array,
            flattened), `slots` (images of objects with an identity, object by object), `gatv2`, `gcn`, `relation`
            (graphs).
        core: what carries memory: `gru`, `lstm`, `transformer_xl`, `rnn` (appendix D.1 of the CWM paper: a plain
            recurrent layer whose output is joined with what the encoder gave; without layers that is the observation),
            `none`.
        hidden: width of the linear layer after the encoder, of the memory, and of added layers.
        filters: of each convolution; also the width of an `mlp`'s layers and of graph layers.
        layers: convolutions, layers of the `mlp` (0: it hands on what it sees) or of `slots`, or graph layers.
        heads: of the attention of `transformer_xl`, a divisor of `hidden`.
        window: steps that `transformer_xl` remembers.
        graph_heads: of the attention of `gatv2` and `relation`, a divisor of `filters`.
        modalities: groups of a graph's channels that are embedded apart and then put side by side; without any, graph
            layers read features as they are.
        objects: for `slots` and for `actions`: number of objects, channel of their identity, columns that are no part
            of the grid (`search.learn.networks.encoders.slots.features`).
        actions: what the numbered actions point at, run after run, so that logits are made by queries and keys
            (`search.learn.networks.heads.pointer`): a `plain` one stands for a single action, `objects` and `items`
            for one each, `… at cells` for one each and cell. Without any, logits are made by a linear layer.
        items: so many lie in the first column beside the grid, from the top down; for `actions`.
        pointer_width: of queries and keys.
        extra_layers: hidden layers between the memory and each head (+1HL, +2HL).
        head_scale: of the heads' orthogonal weights.
        activation: between layers.
        public_private: the memory reads the public part of an image alone, its first `private_channels` channels
            being those that others do not see; a second encoder without memory reads all of it, and the two are
            multiplied (Off-Belief Learning).
        private_channels: see `public_private`.
        bfloat16: compute in bfloat16; parameters stay float32.
        convolutions: of `cnn`, one after the other, zero-padded, so that images keep their size; without any, there
            are `layers` valid ones of 3×3 with `filters`. The OvercookedV2 paper (appendices A.2 and C.1) has them.
        layer_norm: normalise what the linear layer after the encoder gives, after its activation.
        shared_layers: hidden layers between the memory and both heads.
        trunk: widths of an `mlp`'s layers, in place of `layers` of one width; the memory then reads the last of them,
            with no further linear layer between (the POSGGym paper, tables 6 and 8).
        head_widths: widths of hidden layers between the memory and each head, in place of `extra_layers`.
        values_of: of an `mlp`, for each place of a flat observation, the lowest whole number it may hold and how many
            there are: it is read as one of so many. Without any, numbers are read as they are.
    """

    encoder: EncoderName = "cnn"
    core: CoreName = "gru"
    hidden: int = 256
    filters: int = 64
    layers: int = 4
    heads: int = 8
    window: int = 32
    graph_heads: int = 4
    modalities: tuple[Modality, ...] = ()
    objects: tuple[int, int, int] = (0, 0, 0)
    actions: tuple[ActionKind, ...] = ()
    items: int = 0
    pointer_width: int = 16
    extra_layers: int = 0
    head_scale: float = 0.0
    activation: Activation = "relu"
    public_private: bool = False
    private_channels: int = 0
    bfloat16: bool = False
    convolutions: tuple[Convolution, ...] = ()
    layer_norm: bool = False
    shared_layers: int = 0
    trunk: tuple[int, ...] = ()
    head_widths: tuple[int, ...] = ()
    values_of: tuple[Values, ...] = ()

    def __post_init__(self) -> None:
        for name, known in (("encoder", EncoderName), ("core", CoreName), ("activation", Activation)):
            if getattr(self, name) not in get_args(known):
                raise NetworkConfigError(f"{name} is {getattr(self, name)!r}: expected {' or '.join(get_args(known))}.")
        for name in COUNTS:
            least = 0 if name.endswith("_layers") or (name == "layers" and self.encoder == "mlp") else 1
            if not is_whole(getattr(self, name), least):
                raise NetworkConfigError(f"{name} is {getattr(self, name)}: expected a whole number from {least} on.")
        if not is_number(self.head_scale, 0):
            raise NetworkConfigError(f"head_scale is {self.head_scale}: expected a number from 0 on.")
        if self.public_private and (self.encoder not in IMAGES or self.private_channels < 1):
            raise NetworkConfigError("public_private reads images and needs private_channels, 1 or more.")
        if self.encoder == "slots" or self.actions:
            self._check_objects()
        self._check_actions()
        self._check_attention()
        self._check_modalities()
        self._check_convolutions()
        self._check_vectors()

    def _check_objects(self) -> None:
        fits = len(self.objects) == 3 and all(map(is_whole, self.objects, (1, 0, 0)))
        if not fits:
            raise NetworkConfigError(
                f"objects is {self.objects}: slots and actions need the number of objects, the channel of their "
                "identity, and the number of columns beside the grid."
            )
        if self.public_private and self.encoder == "slots" and self.objects[1] < self.private_channels:
            raise NetworkConfigError(
                f"objects is {self.objects}, private_channels {self.private_channels}: the channel of identities has "
                "to be a public one, or the memory is shown no object."
            )

    def _check_actions(self) -> None:
        unknown = [kind for kind in self.actions if kind not in get_args(ActionKind)]
        if unknown:
            raise NetworkConfigError(f"actions holds {unknown[0]!r}: expected {' or '.join(get_args(ActionKind))}.")
        if self.actions and self.encoder not in IMAGES:
            raise NetworkConfigError(
                f"actions point at what images show, but the encoder is {self.encoder!r}: expected "
                f"{' or '.join(IMAGES)}."
            )
        of_items = any(kind.startswith("items") for kind in self.actions)
        if not is_whole(self.items, int(of_items)) or (of_items and not self.objects[2]):
            raise NetworkConfigError(
                f"items is {self.items}, objects {self.objects}: actions on items need 1 or more of them, in a column "
                "beside the grid."
            )

    def _check_attention(self) -> None:
        if self.core == "transformer_xl" and (self.hidden % self.heads or self.hidden % 2):
            raise NetworkConfigError(
                f"hidden is {self.hidden}, heads {self.heads}: transformer_xl needs an even multiple of its heads; "
                "the paper has 64 and 8."
            )
        if self.encoder in ("gatv2", "relation") and self.filters % self.graph_heads:
            raise NetworkConfigError(
                f"filters is {self.filters}, graph_heads {self.graph_heads}: {self.encoder} needs a multiple of its "
                "heads; the paper has 64 and 4."
            )

    def _check_modalities(self) -> None:
        for modality in self.modalities:
            first, end, width = modality if len(modality) == 3 else (0, 0, 0)
            if not (0 <= first < end and width >= 1):
                raise NetworkConfigError(
                    f"modalities holds {modality!r}: expected (first channel, channel after the last, width)."
                )
        if self.modalities and self.encoder not in GRAPHS:
            raise NetworkConfigError(
                f"modalities are of graphs, but the encoder is {self.encoder!r}: expected {' or '.join(GRAPHS)}."
            )

    def _check_convolutions(self) -> None:
        for convolution in self.convolutions:
            side, filters = convolution if len(convolution) == 2 else (0, 0)
            if not (is_whole(side, 1) and side % 2 and is_whole(filters, 1)):
                raise NetworkConfigError(
                    f"convolutions holds {convolution!r}: expected (side of the kernel, an odd number, and filters)."
                )
        if self.convolutions and self.encoder != "cnn":
            raise NetworkConfigError(f"convolutions are of the encoder cnn, not of {self.encoder}: leave them out.")

    def _check_vectors(self) -> None:
        for name in ("trunk", "head_widths"):
            if not all(is_whole(width, 1) for width in getattr(self, name)):
                raise NetworkConfigError(f"{name} is {getattr(self, name)}: expected widths, whole numbers from 1 on.")
        if self.head_widths and self.extra_layers:
            raise NetworkConfigError(
                f"head_widths is {self.head_widths} and extra_layers {self.extra_layers}: both say which layers stand "
                "before the heads; leave one out."
            )
        if (self.trunk or self.values_of) and self.encoder != "mlp":
            raise NetworkConfigError(
                f"trunk and values_of are of the encoder mlp, not of {self.encoder}: leave it out."
            )
        for values in self.values_of:
            lowest, count = values if len(values) == 2 else (0, 0)
            if isinstance(lowest, bool) or not isinstance(lowest, int) or not is_whole(count, 1):
                raise NetworkConfigError(
                    f"values_of holds {values!r}: expected (lowest whole number, how many there are from it on)."
                )

    def to_json(self) -> dict[str, Any]:
        return without_defaults(self, asdict(self), ADDED)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "NetworkConfig":
        """Builds a configuration; keys that a newer version wrote are left out."""
        known = {item.name for item in fields(cls)}
        values = {key: value for key, value in data.items() if key in known}
        lists = {name: tuple(values[name]) for name in ("objects", "actions", "trunk", "head_widths") if name in values}
        nested = ("modalities", "convolutions", "values_of")
        pairs = {name: tuple(map(tuple, values.get(name, ()))) for name in nested}
        return cls(**values | lists | pairs)
