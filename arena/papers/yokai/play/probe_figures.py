"""How well card colours can be read off policies along a game: figures over seeds, for tables and charts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from arena.figures.intervals import Estimate, mean_estimate

Numbers: TypeAlias = NDArray[np.float64]
SELF_PLAY: Final = "self-play"
CROSS_PLAY: Final = "cross-play"
ORACLE: Final = "perfect memory"
OBSERVED: Final = "observed"
CARDS: Final = ("all cards", OBSERVED, "not observed")


@dataclass(frozen=True)
class Counts:
    """Of one policy in one kind of play, by step: cards that its player had observed, then cards that it had not.

    Attributes:
        cards: float64 [T, 2], how many there were, over all games that were not over.
        right: float64 [T, 2], of how many the probe named the colour.
        oracle: float64 [T, 2], of how many a player would who forgets nothing that it observed and knows how many
            cards there are of each colour, but draws no conclusion from anybody's actions; an expectation.
    """

    cards: Numbers
    right: Numbers
    oracle: Numbers

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.cards + other.cards, self.right + other.right, self.oracle + other.oracle)


Line: TypeAlias = dict[int, Estimate]
"""Accuracy by step, the number of players' actions before; error over seeds."""


@dataclass(frozen=True)
class MethodProbes:
    """One method.

    Attributes:
        method: its name.
        seeds: number of its policies.
        lines: by which cards (`CARDS`) and by kind of play (`SELF_PLAY`, `CROSS_PLAY` and, in self-play, `ORACLE`).
    """

    method: str
    seeds: int
    lines: dict[str, dict[str, Line]]


@dataclass(frozen=True)
class ColourProbes:
    """All methods.

    Attributes:
        methods: their figures.
        chance: accuracy of guessing among the colours.
        trained_on: self-play games whose steps the probes of each policy were trained on.
        held_out: deals on which they were tested, in self-play and in cross-play.
    """

    methods: tuple[MethodProbes, ...]
    chance: float
    trained_on: int
    held_out: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def method_probes(method: str, alone: Sequence[Counts], mixed: Sequence[Counts]) -> MethodProbes:
    """Returns the figures of a method from the counts of each of its policies; `mixed` is empty for one policy."""
    kinds: dict[str, tuple[Sequence[Counts], Callable[[Counts], Numbers]]] = {
        SELF_PLAY: (alone, lambda counts: counts.right),
        CROSS_PLAY: (mixed, lambda counts: counts.right),
        ORACLE: (alone, lambda counts: counts.oracle),
    }
    groups: Mapping[str, list[int]] = dict(zip(CARDS, ([0, 1], [0], [1]), strict=True))
    lines = {
        cards: {name: _line(counts, of, columns) for name, (counts, of) in kinds.items()}
        for cards, columns in groups.items()
    }
    return MethodProbes(method, len(alone), lines)


def _line(every: Sequence[Counts], of: Callable[[Counts], Numbers], columns: list[int]) -> Line:
    line: Line = {}
    for step in range(len(every[0].cards) if every else 0):
        shares = [
            float(of(counts)[step, columns].sum() / counts.cards[step, columns].sum())
            for counts in every
            if counts.cards[step, columns].sum()
        ]
        found = mean_estimate(shares)
        if found is not None:
            line[step] = found
    return line
