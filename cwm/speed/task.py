"""What a faster program is asked for: settings, where the time goes, and which of two programs is faster."""

import ast
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, TypeAlias

from cwm.storage.settings import Settings
from cwm.synthesis.task import SynthesisTask
from games.api import Json

Rates: TypeAlias = tuple[float, float]
"""Simulations a second of the old and of the new program, measured one right after the other."""

HOT = 8
"""So many functions are named in a prompt, the hottest first."""
SIGNIFICANCE = 0.05


class SpeedConfigError(ValueError):
    """A setting of the speed refinement is unknown or out of range."""


@dataclass(frozen=True)
class SpeedConfig(Settings):
    """Settings of the speed refinement.

    Attributes:
        num_candidates: faster versions asked for, one call each.
        max_output_tokens: cap of an answer, reasoning included.
        max_truncated_retries: a truncated answer is asked for again, at most so often, with a larger cap.
        truncated_growth: how much larger, as a factor.
        temperature: sampling temperature, None for the provider's default.
        games: random games of the program in place, on which a new one must answer alike.
        positions: decision points at which searches are profiled and timed, each of a game of its own.
        simulations: simulations a position under the profiler.
        pairs: how often both programs are timed in turn.
        min_gain: a version is kept if the median of the pairs' ratios is above 1 by more than this, and a sign test
            over the pairs says that it is no chance.
        seed: of games and searches.
    """

    error: ClassVar[type[Exception]] = SpeedConfigError

    num_candidates: int = 1
    max_output_tokens: int = 32_768
    max_truncated_retries: int = 2
    truncated_growth: float = 2.0
    temperature: float | None = None
    games: int = 10
    positions: int = 10
    simulations: int = 50
    pairs: int = 10
    min_gain: float = 0.02
    seed: int = 0

    def __post_init__(self) -> None:
        self._check_least(1, "num_candidates", "max_output_tokens", "games", "positions", "simulations")
        # With fewer pairs no sign test can come out below its level.
        self._check_least(5, "pairs")
        if self.truncated_growth <= 1.0 or self.min_gain < 0.0:
            raise SpeedConfigError("truncated_growth must be above 1 and min_gain at least 0")

    def measurement(self) -> dict[str, Any]:
        """Returns the settings that decide what is measured; with more candidates nothing is measured anew."""
        return {name: getattr(self, name) for name in ("games", "positions", "simulations", "pairs", "seed")}


@dataclass(frozen=True)
class HotFunction:
    """What one function of a program costs under the planner.

    Attributes:
        name: of the function at the top level of the program; what is defined inside it counts as its own.
        calls: how often it was called.
        share: of the time of the search, spent in it and in the builtins that it calls, in [0, 1].
    """

    name: str
    calls: int
    share: float


@dataclass(frozen=True)
class SpeedProfile:
    """Where the time of searches goes.

    Attributes:
        simulations: that ran.
        functions: of the program, the hottest first; their shares sum to at most 1, the rest is the planner's.
    """

    simulations: int
    functions: tuple[HotFunction, ...]

    @property
    def share(self) -> float:
        """Share of the whole program in the time of the search."""
        return min(1.0, math.fsum(function.share for function in self.functions))

    def to_json(self) -> dict[str, Any]:
        """Returns the profile as JSON."""
        return asdict(self) | {"functions": [asdict(function) for function in self.functions]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "SpeedProfile":
        """Returns what `to_json` wrote."""
        return cls(data["simulations"], tuple(HotFunction(**function) for function in data["functions"]))

    @classmethod
    def of(cls, source: str, figures: Mapping[str, Json]) -> "SpeedProfile":
        """Returns the profile of a program, its inner functions counted with those that they stand in.

        Args:
            source: the program.
            figures: `simulations`, `seconds` and `functions`: [name, first line, calls, own seconds], see
                `search.profiling`.
        """
        spans = _spans(source)
        calls: dict[str, int] = {}
        seconds: dict[str, float] = {}
        for name, line, number, own in figures["functions"]:
            outer = next((title for title, first, last in spans if first <= line <= last), "the top level")
            seconds[outer] = seconds.get(outer, 0.0) + own
            calls[outer] = calls.get(outer, 0) + (number if name == outer else 0)
        whole = figures["seconds"] or 1.0
        found = [HotFunction(name, calls[name], own / whole) for name, own in seconds.items()]
        return cls(figures["simulations"], tuple(sorted(found, key=lambda function: (-function.share, function.name))))


@dataclass(frozen=True)
class SpeedTask:
    """What a faster version is written for.

    Attributes:
        task: what the program in place was written for.
        source: the program in place, which passes every test.
        beside: sources of the functions that stand beside it and may call what it defines.
        values: whether the planner asks a value function at its leaves instead of playing on at random.
    """

    task: SynthesisTask
    source: str
    beside: tuple[str, ...] = ()
    values: bool = False

    @property
    def used_beside(self) -> tuple[str, ...]:
        """Names that the program defines at its top level and the functions beside it use, sorted."""
        defined = {title for title, _, _ in _spans(self.source)} | _assigned(self.source)
        used = {
            node.id
            for source in self.beside
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        return tuple(sorted((defined & used) - set(self.task.functions)))


def median_ratio(pairs: Sequence[Rates]) -> float:
    """Returns the median over the pairs of new over old."""
    return statistics.median(new / old for old, new in pairs)


def is_faster(pairs: Sequence[Rates], min_gain: float) -> bool:
    """Tells whether the new program is faster by more than noise.

    A sign test over the pairs: how likely would so many of them favour the new program if both were equally fast? It
    asks nothing of the distribution of a busy machine's times.

    Args:
        pairs: at least one.
        min_gain: the median of the ratios must be above 1 by more than this.
    """
    wins = sum(new > old for old, new in pairs)
    number = len(pairs)
    chance = sum(math.comb(number, count) for count in range(wins, number + 1)) / 2**number
    return chance <= SIGNIFICANCE and median_ratio(pairs) > 1.0 + min_gain


def _spans(source: str) -> list[tuple[str, int, int]]:
    """Returns name, first and last line of each definition at the top level; a decorator belongs to its function."""
    spans = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            spans.append((node.name, first, node.end_lineno or node.lineno))
    return spans


def _assigned(source: str) -> set[str]:
    """Returns the names that are assigned at the top level."""
    return {
        node.id
        for statement in ast.parse(source).body
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef)
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
