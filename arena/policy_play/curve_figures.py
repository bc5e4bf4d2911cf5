"""Figures of learning curves: self-play and cross-play of a method by environment steps."""

from dataclasses import asdict, dataclass
from typing import Any

from arena.policy_play.method_figures import MethodFigures


@dataclass(frozen=True)
class CurvePoint:
    """A method at one age.

    Attributes:
        steps: environment steps that each policy was trained for.
        figures: over its seeds.
    """

    steps: int
    figures: MethodFigures


@dataclass(frozen=True)
class LearningCurves:
    """What trainings reached on the way.

    Attributes:
        game: registry id.
        methods: points in the order of their steps, by method.
        settings: games a seating, seed, greedy.
    """

    game: str
    methods: dict[str, tuple[CurvePoint, ...]]
    settings: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
