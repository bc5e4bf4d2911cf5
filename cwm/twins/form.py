"""The form of a twin: its tables, and the arrays of which its states consist."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from games.api import Action

Rows: TypeAlias = tuple[NDArray[np.int32], NDArray[np.float32]]
"""States as numbers: whole ones int32 [N, K], others float32 [N, L]; the arrays of a state one after the other."""


@dataclass(frozen=True)
class ArrayForm:
    """One array of a state.

    Attributes:
        name: of the array.
        dtype: NumPy's name of its type.
        shape: lengths.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def is_real(self) -> bool:
        """Whether its numbers are not whole."""
        return self.dtype == "float32"


@dataclass(frozen=True)
class TwinForm:
    """Tables and layout.

    Attributes:
        arrays: of a state, by name.
        actions: of players, by index.
        outcomes: of chance, by index.
        num_players: players.
        width: length of observation vectors.
    """

    arrays: tuple[ArrayForm, ...]
    actions: tuple[Action, ...]
    outcomes: tuple[Action, ...]
    num_players: int
    width: int

    def split(self, rows: Rows) -> list[NDArray[Any]]:
        """Returns the arrays of N states, each [N, *shape]."""
        whole, real = rows
        found: list[NDArray[Any]] = []
        places = [0, 0]
        for array in self.arrays:
            size = prod(array.shape)
            numbers = real if array.is_real else whole
            begin = places[array.is_real]
            places[array.is_real] += size
            part = numbers[:, begin : begin + size]
            found.append(part.astype(array.dtype).reshape(-1, *array.shape))
        return found

    def join(self, arrays: Sequence[NDArray[Any]]) -> Rows:
        """Returns the numbers of N states, of which `split` makes the same arrays again."""
        count = arrays[0].shape[0]
        whole: list[NDArray[Any]] = [np.zeros((count, 0), np.int32)]
        real: list[NDArray[Any]] = [np.zeros((count, 0), np.float32)]
        for form, array in zip(self.arrays, arrays, strict=True):
            flat = np.asarray(array).reshape(count, -1)
            (real if form.is_real else whole).append(flat.astype(np.float32 if form.is_real else np.int32))
        return np.concatenate(whole, axis=1), np.concatenate(real, axis=1)

    @property
    def layout(self) -> list[list[Any]]:
        """Name, type and shape of every array, as a worker is told."""
        return [[array.name, array.dtype, list(array.shape)] for array in self.arrays]

    def to_json(self) -> dict[str, Any]:
        """Returns the form as JSON."""
        return {
            "layout": self.layout,
            "actions": list(self.actions),
            "outcomes": list(self.outcomes),
            "num_players": self.num_players,
            "width": self.width,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Returns what `to_json` wrote."""
        arrays = tuple(ArrayForm(name, dtype, tuple(shape)) for name, dtype, shape in data["layout"])
        return cls(arrays, tuple(data["actions"]), tuple(data["outcomes"]), data["num_players"], data["width"])
