"""A trained network as a policy of planners: layers, a memory and heads on vectors, run by NumPy one step at a time.

The only module of this package that needs more than the standard library: who plans with networks imports it, planners
do not. JAX would take as long to be called as all of such a step takes.
"""

import copy
import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from games.api import Action, Json
from games.posg.api import Observation, PosgError
from search.api import PlannerConfigError

Vector = NDArray[np.float32]
Arrays = Mapping[str, Vector]

KINDS: Final = {"F16": np.float16, "F32": np.float32}
LENGTH: Final = 8
"""Bytes that say how long the header of a file of arrays is."""
GATES: Final = 4
CORES: Final = ("lstm", "none")
ACTIVATIONS: Final[Mapping[str, Callable[[Vector], Vector]]] = {"tanh": np.tanh, "relu": lambda x: np.maximum(x, 0.0)}
USUAL: Final[Mapping[str, Json]] = {
    "encoder": "mlp",
    "actions": [],
    "public_private": False,
    "layer_norm": False,
    "shared_layers": 0,
}
"""Settings of a network that is run here; others are not."""
MOST: Final = 1 << 16
"""Widths and numbers of layers that are read: a file cannot name more to take up memory."""
MOST_NUMBER: Final = float(np.finfo(np.float32).max)
DAMAGED: Final = (
    KeyError,
    TypeError,
    ValueError,
    IndexError,
    AttributeError,
    OverflowError,
    RecursionError,
    MemoryError,
)
"""What reading a file of a stranger may come to."""


class NetworkMemory:
    """What a network remembers of an agent's history, and what it says now.

    Attributes:
        agent: whose history it is.
        cell: of the LSTM, [H].
        hidden: likewise; None before the first observation.
        said: logits of all actions and the value, [N + 1].
    """

    __slots__ = ("agent", "cell", "hidden", "said")
    __hash__ = None  # type: ignore[assignment]  # minds are then found by history, which is cheaper than by arrays

    def __init__(self, agent: int, cell: Vector | None, hidden: Vector | None, said: Vector | None) -> None:
        self.agent = agent
        self.cell = cell
        self.hidden = hidden
        self.said = said


class NetworkPolicy:
    """A recurrent actor-critic on an agent's own observations, as a policy with a value; it draws by its probabilities.

    Attributes:
        agents: whom it plays.
    """

    def __init__(
        self,
        arrays: Arrays,
        network: Mapping[str, Json],
        encode: Callable[[int, Observation], Sequence[float]],
        actions: Sequence[Sequence[Action]],
        bounds: tuple[Sequence[float], Sequence[float]],
        agents: Sequence[int] | None = None,
    ) -> None:
        """Sets the network up.

        Args:
            arrays: parameters by path, e.g. `encoder/linear_0/kernel`.
            network: its settings, as a checkpoint tells them (`search.learn.networks.config.NetworkConfig`).
            encode: an agent's observation as a vector, as the network was trained on it.
            actions: of each agent, in the order of the logits.
            bounds: lowest and highest value of each place of a vector, [W] each.
            agents: whom it was trained for; None: everybody.

        Raises:
            PlannerConfigError: it is not of the kind that is run here, or its arrays are not those of its settings.
        """
        self._encode = encode
        self._numbers = [{action: number for number, action in enumerate(own)} for own in actions]
        self._count = max(map(len, actions))
        self.agents = tuple(range(len(actions)) if agents is None else agents)
        _check_kind(network)
        try:
            self._activate = ACTIVATIONS[str(network["activation"])]
            self._values_of = _values_of(network, len(bounds[0]))
            self._set_up(_Layers(arrays, bounds, self._values_of, network["activation"] == "tanh"), network)
        except DAMAGED as error:
            raise PlannerConfigError(
                f"the arrays of a network are not those of its settings ({error}): restore its checkpoint."
            ) from error

    def _set_up(self, layers: "_Layers", network: Mapping[str, Json]) -> None:
        widths = _widths(network, "trunk") or [_whole(network, "filters", 1)] * _whole(network, "layers", 0)
        self._layers = [layers.next(f"encoder/linear_{number}", width) for number, width in enumerate(widths)]
        self._width = _whole(network, "hidden", 1)
        if not network.get("trunk"):
            self._layers.append(layers.next("projection", self._width))
        self._core = None
        if network["core"] == "lstm":
            self._core = _halved(*layers.memory(self._width), self._width)
        extra = _whole(network, "extra_layers", 0) if "extra_layers" in network else 0
        heads = _widths(network, "head_widths") or [self._width] * extra
        actor, critic = layers, layers.copy()
        self._heads = [
            _beside(actor.next(f"actor_{number}", width), critic.next(f"critic_{number}", width), apart=number > 0)
            for number, width in enumerate(heads)
        ]
        last = actor.next("actor", self._count), critic.next("critic", 1)
        self._last = _beside(*last, apart=bool(heads))
        self._firsts = [0]
        for _, count in self._values_of:
            self._firsts.append(self._firsts[-1] + count)

    def start(self, agent: int) -> NetworkMemory:
        """Returns the memory of an agent before it was told anything.

        Raises:
            PosgError: the network was not trained for that agent.
        """
        if agent not in self.agents:
            known = " and ".join(map(str, self.agents))
            raise PosgError(f"the network was trained for agent {known}, not for agent {agent}.")
        return NetworkMemory(agent, *self._empty(), None)

    def update(self, memory: NetworkMemory, action: Action | None, observation: Observation) -> NetworkMemory:
        """Returns the memory after one more observation; what the agent did is no input of the network."""
        return self._read(memory, self._encode(memory.agent, observation))

    def probabilities(self, memory: NetworkMemory, legal: Sequence[Action]) -> Sequence[float]:
        """Returns a probability for each of `legal`: a softmax of their logits."""
        assert memory.said is not None, "a policy acts after it was told something"
        logits, numbers = memory.said.tolist(), self._numbers[memory.agent]
        chosen = [logits[numbers[action]] for action in legal]
        most = max(chosen)
        weights = [math.exp(logit - most) for logit in chosen]
        total = math.fsum(weights)
        return [weight / total for weight in weights]

    def value(self, memory: NetworkMemory) -> float:
        """Returns the discounted return that the network expects from now on."""
        assert memory.said is not None, "a policy has a value after it was told something"
        return float(memory.said[-1])

    def act(self, memory: NetworkMemory, rng: random.Random) -> Action:
        """Draws an action, all of the agent's being legal."""
        actions = list(self._numbers[memory.agent])
        return rng.choices(actions, self.probabilities(memory, actions))[0]

    def _empty(self) -> tuple[Vector | None, Vector | None]:
        if self._core is None:
            return None, None
        nothing = np.zeros(self._width, np.float32)
        return nothing, nothing

    def _read(self, memory: NetworkMemory, vector: Sequence[float]) -> NetworkMemory:
        activate, cell, hidden = self._activate, memory.cell, memory.hidden
        (weights, shift), *further = self._layers
        if self._values_of:
            numbers = enumerate(zip(vector, self._values_of, strict=True))
            rows = [
                self._firsts[place] + int(value) - lowest
                for place, (value, (lowest, count)) in numbers
                if lowest <= value < lowest + count
            ]
            shown: Vector = activate(np.add.reduce(weights[rows]) + shift)
        else:
            shown = activate(np.array(vector, np.float32) @ weights + shift)
        for weights, shift in further:
            shown = activate(shown @ weights + shift)
        if self._core is not None and cell is not None and hidden is not None:
            weights, shift = self._core
            width = self._width
            gates = np.tanh(np.concatenate((shown, hidden)) @ weights + shift)
            new = gates[3 * width :]
            enter, keep, show = (0.5 * gates[: 3 * width] + 0.5).reshape(3, width)
            cell = keep * cell + enter * new
            shown = hidden = show * np.tanh(cell)
        for weights, shift in self._heads:
            shown = activate(shown @ weights + shift)
        weights, shift = self._last
        return NetworkMemory(memory.agent, cell, hidden, shown @ weights + shift)


def read_arrays(path: Path) -> dict[str, Vector]:
    """Reads a file of arrays in the safetensors format as float32.

    Raises:
        PlannerConfigError: it cannot be read, or holds numbers that are not finite.
    """
    try:
        data = memoryview(path.read_bytes())
        begin = LENGTH + int.from_bytes(data[:LENGTH], "little")
        header = json.loads(bytes(data[LENGTH:begin]))
        header.pop("__metadata__", None)
        body, place = data[begin:], 0
        found = {}
        # One after the other, as the format asks for: names of the same bytes would take memory without an end.
        for name, facts in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
            found[name], place = _array(body, place, facts)
        if place != len(body):
            raise ValueError(f"its arrays have {place} bytes of {len(body)}")
    except (OSError, *DAMAGED) as error:
        raise PlannerConfigError(
            f"{path} cannot be read as the arrays of a network ({type(error).__name__}: {error}): restore the "
            "checkpoint."
        ) from error
    if not all(np.isfinite(array).all() for array in found.values()):
        raise PlannerConfigError(f"{path} holds numbers that are not finite: its training failed, or it is damaged.")
    return found


def _array(body: memoryview, place: int, facts: Mapping[str, Any]) -> tuple[Vector, int]:
    """Returns the array that begins at a place of the bytes, and the place after it."""
    begin, end = facts["data_offsets"]
    if begin != place or not begin <= end <= len(body):
        raise ValueError(f"bytes {begin} to {end} are not those that follow byte {place} of {len(body)}")
    array = np.frombuffer(body[begin:end], KINDS[facts["dtype"]]).reshape(facts["shape"])
    return array.astype(np.float32), end


class _Layers:
    """Layers of exact shapes, one after the other, whose numbers stay finite whatever is read.

    Args:
        arrays: parameters by path.
        bounds: of the vectors, [W] each.
        values_of: see `NetworkConfig.values_of`.
        is_bounded: whether the activation is at most 1.
    """

    def __init__(
        self,
        arrays: Arrays,
        bounds: tuple[Sequence[float], Sequence[float]],
        values_of: Sequence[tuple[int, int]],
        is_bounded: bool,
    ) -> None:
        self._arrays, self._is_bounded = arrays, is_bounded
        most = np.maximum(*np.abs(np.array(bounds, np.float64)))
        # A game may tell of no bound; its numbers are small then, too.
        self._most = np.where(np.isfinite(most), most, 1.0)
        if values_of:
            self._most = np.ones(sum(count for _, count in values_of))

    def copy(self) -> "_Layers":
        """Returns layers that go on from here by themselves."""
        return copy.copy(self)

    def next(self, name: str, width: int) -> tuple[Vector, Vector]:
        """Returns a layer, [before, width] and [width]."""
        weights = self._shaped(f"{name}/kernel", (len(self._most), width))
        shift = self._shaped(f"{name}/bias", (width,))
        reached = self._reached(name, weights, shift, self._most)
        self._most = np.minimum(reached, 1.0) if self._is_bounded else reached
        return weights, shift

    def memory(self, width: int) -> tuple[Vector, Vector]:
        """Returns the layer of an LSTM, [before + width, 4 width] and [4 width]."""
        read = self._shaped("core/input/kernel", (len(self._most), GATES * width))
        kept = self._shaped("core/memory", (width, GATES * width))
        weights, shift = np.concatenate([read, kept]), self._shaped("core/input/bias", (GATES * width,))
        self._reached("core", weights, shift, np.concatenate([self._most, np.ones(width)]))
        self._most = np.ones(width)
        return weights, shift

    def _shaped(self, name: str, shape: tuple[int, ...]) -> Vector:
        found = self._arrays[name]
        if found.shape != shape:
            raise ValueError(f"{name} is {list(found.shape)}, expected {list(shape)}")
        return found

    def _reached(self, name: str, weights: Vector, shift: Vector, most: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns how large a layer's numbers can be."""
        reached: NDArray[np.float64] = most @ np.abs(weights).astype(np.float64) + np.abs(shift)
        if not (reached <= MOST_NUMBER).all():
            raise ValueError(f"{name} has weights too large to compute with")
        return reached


def _whole(network: Mapping[str, Json], name: str, least: int) -> int:
    return _checked_whole(network[name], name, least)


def _checked_whole(value: Json, name: str, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MOST:
        raise ValueError(f"{name} is {value!r:.40}, expected a whole number from {least} to {MOST}")
    return value


def _widths(network: Mapping[str, Json], name: str) -> list[int]:
    return [_checked_whole(width, name, 1) for width in network.get(name) or ()]


def _values_of(network: Mapping[str, Json], places: int) -> list[tuple[int, int]]:
    found = [
        (_checked_whole(lowest, "values_of", -MOST), _checked_whole(count, "values_of", 1))
        for lowest, count in network.get("values_of") or ()
    ]
    if found and len(found) != places:
        raise ValueError(f"values_of tells of {len(found)} places, the game's vectors have {places}")
    return found


def _check_kind(network: Mapping[str, Json]) -> None:
    for name, usual in USUAL.items():
        if network.get(name, usual) not in (usual, ()):
            raise PlannerConfigError(
                f"planners run networks with {name} {usual!r} alone, and this one has {network[name]!r}: train one for "
                "games of simultaneous moves."
            )
    if network.get("core") not in CORES:
        raise PlannerConfigError(
            f"planners run networks whose memory is {' or '.join(CORES)}, and this one's is {network.get('core')!r}: "
            "train one for games of simultaneous moves."
        )


def _halved(weights: Vector, shift: Vector, width: int) -> tuple[Vector, Vector]:
    """Returns the weights of an LSTM so that one tanh serves all gates: sigmoid(x) = (1 + tanh(x / 2)) / 2.

    Args:
        weights: [E + H, 4 H], of the gates that let in, keep, are new, and show.
        shift: [4 H].
        width: H.

    Returns:
        Both in the order let in, keep, show, new.
    """
    order = np.concatenate([np.arange(2 * width), np.arange(3 * width, GATES * width), np.arange(2 * width, 3 * width)])
    scale = np.where(np.arange(GATES * width) < (GATES - 1) * width, 0.5, 1.0).astype(np.float32)
    opened = shift + np.where(np.arange(GATES * width) // width == 1, 1.0, 0.0).astype(np.float32)
    return np.ascontiguousarray(weights[:, order] * scale), opened[order] * scale


def _beside(actor: tuple[Vector, Vector], critic: tuple[Vector, Vector], apart: bool) -> tuple[Vector, Vector]:
    """Returns a layer of both heads as one; `apart`: each reads its own part of the layer before."""
    (one, first), (two, second) = actor, critic
    shift = np.concatenate([first, second])
    if not apart:
        return np.concatenate([one, two], axis=1), shift
    joint = np.zeros((len(one) + len(two), one.shape[1] + two.shape[1]), np.float32)
    joint[: len(one), : one.shape[1]] = one
    joint[len(one) :, one.shape[1] :] = two
    return joint, shift
