"""Figures of a method over its seeds: self-play, cross-play between seeds, and what methods reach with each other.

As the Yōkai Learning Environment paper has them (section 6.1): means with standard errors over independent seeds.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations_with_replacement
from typing import Any

from arena.figures import metrics
from arena.figures.intervals import Estimate, jackknife_estimate
from arena.figures.metrics import Cooperation, Metric
from arena.matches.cross_play import CrossPlay
from arena.policy_play.played_lineups import Seating, Tally

Figure = Callable[[Tally], float | None]
"""Reads one figure off the games of one seating; None where there is nothing to measure."""


@dataclass(frozen=True)
class MethodFigures:
    """One method; every standard error is over seeds.

    Attributes:
        method: its name.
        policies: names of its seeds.
        self_play: figures of every seed with itself.
        cross_play: figures of different seeds together, all seatings; None for one seed.
        gap: R in self-play less R in cross-play.
        border_alone: share of moves that go to a border cell, in self-play.
        border_mixed: the same in cross-play.
    """

    method: str
    policies: tuple[str, ...]
    self_play: Cooperation | None
    cross_play: Cooperation | None
    gap: Estimate | None
    border_alone: Estimate | None
    border_mixed: Estimate | None


@dataclass(frozen=True)
class LearnedCrossPlay:
    """Cross-play of trained policies.

    Attributes:
        found: what is said of all agents alike, with a deal as the unit.
        seatings: R by seating, names joined by ` + ` in the order of the seats.
        methods: figures over seeds.
        between: [row][column] of methods: R of a policy of one with a policy of the other, both seatings, over seeds;
            on the diagonal different seeds of one. Empty for one method, or for more than two players.
        policies: by name, what its checkpoint says of itself.
        settings: games a seating, seed, greedy.
    """

    found: CrossPlay
    seatings: dict[str, float]
    methods: tuple[MethodFigures, ...]
    between: tuple[tuple[Estimate | None, ...], ...]
    policies: dict[str, dict[str, Any]]
    settings: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        rest = {key: value for key, value in asdict(self).items() if key != "found"}
        return {"game": self.found.table.game, **self.found.to_json(), **rest}


def method_figures(played: Mapping[Seating, Tally], methods: Mapping[str, Sequence[str]]) -> tuple[MethodFigures, ...]:
    """Returns the figures of every method.

    Args:
        played: games by seating.
        methods: names of the policies of each.
    """
    return tuple(_figures(played, method, tuple(names)) for method, names in methods.items())


def between_methods(
    played: Mapping[Seating, Tally], methods: Mapping[str, Sequence[str]]
) -> tuple[tuple[Estimate | None, ...], ...]:
    """Returns the matrix of R between methods of a game for two; see `LearnedCrossPlay`."""
    cells: dict[tuple[str, str], Estimate | None] = {}
    for one, other in combinations_with_replacement(methods, 2):
        kept = {
            seating: tally
            for seating, tally in played.items()
            if _joins(seating, methods[one], methods[other]) and len(set(seating)) == 2
        }
        groups = [methods[one]] if one == other else [methods[one], methods[other]]
        cells[one, other] = cells[other, one] = over_seeds(kept, groups, _mean_of("score"))
    return tuple(tuple(cells[row, column] for column in methods) for row in methods)


def over_seeds(played: Mapping[Seating, Tally], groups: Sequence[Sequence[str]], figure: Figure) -> Estimate | None:
    """Returns the mean of a figure over seatings, its standard error from leaving out one seed at a time."""
    values = {seating: figure(tally) for seating, tally in played.items()}
    return jackknife_estimate(lambda left_out: _mean(values, left_out), groups)


def _joins(seating: Seating, one: Sequence[str], other: Sequence[str]) -> bool:
    first, second = seating
    return (first in one and second in other) or (first in other and second in one)


def _mean(values: Mapping[Seating, float | None], left_out: Hashable | None) -> float | None:
    kept = [value for seating, value in values.items() if value is not None and left_out not in seating]
    return sum(kept) / len(kept) if kept else None


def _mean_of(name: str) -> Figure:
    return lambda tally: float(tally[name].mean())


def _ratio(part: str, whole: str) -> Figure:
    def of(tally: Tally) -> float | None:
        total = float(tally[whole].sum())
        return float(tally[part].sum()) / total if total else None

    return of


def _figures(played: Mapping[Seating, Tally], method: str, names: tuple[str, ...]) -> MethodFigures:
    own = {seating: tally for seating, tally in played.items() if set(seating) <= set(names)}
    alone = {seating: tally for seating, tally in own.items() if len(set(seating)) == 1}
    mixed = {seating: tally for seating, tally in own.items() if len(set(seating)) > 1}
    return MethodFigures(
        method=method,
        policies=names,
        self_play=_cooperation(alone, names),
        cross_play=_cooperation(mixed, names),
        gap=_gap(alone, mixed, names),
        border_alone=over_seeds(alone, [names], _ratio("border", "moves")),
        border_mixed=over_seeds(mixed, [names], _ratio("border", "moves")),
    )


def _gap(alone: Mapping[Seating, Tally], mixed: Mapping[Seating, Tally], names: tuple[str, ...]) -> Estimate | None:
    score = _mean_of("score")
    own = {seating: score(tally) for seating, tally in alone.items()}
    others = {seating: score(tally) for seating, tally in mixed.items()}

    def difference(left_out: Hashable | None) -> float | None:
        with_itself, with_others = _mean(own, left_out), _mean(others, left_out)
        return None if with_itself is None or with_others is None else with_itself - with_others

    return jackknife_estimate(difference, [names])


def _cooperation(played: Mapping[Seating, Tally], names: tuple[str, ...]) -> Cooperation | None:
    def estimate(metric: Metric) -> Estimate | None:
        figure = _mean_of(metric.key) if metric.ratio is None else _ratio(*metric.ratio)
        return over_seeds(played, [names], figure)

    return metrics.cooperation(estimate)
