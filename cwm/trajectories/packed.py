"""Many recorded games in little memory: each is packed as bytes, and unpacked when it is looked at."""

import marshal
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from cwm.trajectories.recorded import Step, Trajectory

_FASTEST = 1
"""Level of compression: states that follow each other are so alike that more effort gains little."""


class PackedGames(Sequence[Trajectory]):
    """Recorded games, a few hundred bytes a step in the place of many kilobytes.

    What it hands out is made anew each time: walk through it in order, and keep no more games than are needed.

    Args:
        trajectories: the first games; states and observations are plain JSON values.
    """

    def __init__(self, trajectories: Iterable[Trajectory] = ()) -> None:
        self._packed: list[bytes] = []
        for trajectory in trajectories:
            self.add(trajectory)

    def add(self, trajectory: Trajectory) -> None:
        """Packs one more game."""
        self._packed.append(_pack(trajectory))

    def __len__(self) -> int:
        return len(self._packed)

    @overload
    def __getitem__(self, index: int) -> Trajectory: ...

    @overload
    def __getitem__(self, index: slice) -> "PackedGames": ...

    def __getitem__(self, index: int | slice) -> "Trajectory | PackedGames":
        if isinstance(index, slice):
            part = PackedGames()
            part._packed = self._packed[index]
            return part
        return _unpack(self._packed[index])

    def __iter__(self) -> Iterator[Trajectory]:
        return map(_unpack, self._packed)


def _pack(trajectory: Trajectory) -> bytes:
    about = {name: value for name, value in vars(trajectory).items() if name != "steps"}
    return zlib.compress(marshal.dumps((about, [vars(step) for step in trajectory.steps])), _FASTEST)


def _unpack(packed: bytes) -> Trajectory:
    about, steps = marshal.loads(zlib.decompress(packed))
    return Trajectory(steps=tuple(Step(**step) for step in steps), **about)
