"""How well players choose and rate moves, held against what the moves were worth."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from arena.decisions.search_ratings import Rated
from arena.figures.intervals import Estimate, clustered_mean, clustered_rate

EQUAL = 1e-9
"""Ratings that differ by less are ties."""


@dataclass(frozen=True)
class Agreement:
    """One agent's, or one scaffold's, decisions. Games of one deal count as alike in the intervals.

    Attributes:
        who: name.
        regret: of the chosen moves, in the game's units; over decisions with a choice.
        best: share of chosen moves that none is worth more than; over the same.
        tau: Kendall's tau-b between its own ratings and the values; over decisions at which it rated two moves or more
            apart and the values differ. None where there is none.
        top: share of chosen moves that it rated as high as any; over decisions at which it rated the chosen one.
    """

    who: str
    regret: Estimate | None
    best: Estimate | None
    tau: Estimate | None
    top: Estimate | None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def by_agent(rated: Iterable[Rated]) -> list[Agreement]:
    """Returns the agents' figures, by name."""
    return _grouped(rated, lambda item: item.decision.agent)


def by_scaffold(rated: Iterable[Rated]) -> list[Agreement]:
    """Returns the figures of all that play by one scaffold together, by its name; players without are left out."""
    return _grouped((item for item in rated if item.decision.scaffold is not None), lambda item: item.decision.scaffold)


def kendall_tau(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Returns tau-b of two rankings of the same things, from -1 to 1; None where one of them has nothing but ties.

    Args:
        first: one number of each thing.
        second: the same.
    """
    agreeing = untied_first = untied_second = 0
    for (a, b), (c, d) in combinations(zip(first, second, strict=True), 2):
        x, y = _sign(a - c), _sign(b - d)
        agreeing += x * y
        untied_first += x != 0
        untied_second += y != 0
    if not untied_first or not untied_second:
        return None
    return agreeing / math.sqrt(untied_first * untied_second)


def _sign(difference: float) -> int:
    return 0 if abs(difference) < EQUAL else 1 if difference > 0 else -1


def _grouped(rated: Iterable[Rated], name: Any) -> list[Agreement]:
    groups: dict[str, list[Rated]] = {}
    for item in rated:
        groups.setdefault(name(item), []).append(item)
    return [_agreement(who, groups[who]) for who in sorted(groups)]


def _agreement(who: str, rated: Sequence[Rated]) -> Agreement:
    regrets, taus, tops = _ByDeal(), _ByDeal(), _ByDeal()
    for item in rated:
        deal = item.decision.record.deal_seed
        if len(item.values) > 1 and item.regret is not None:
            regrets.add(deal, item.regret)
        own = _own_ratings(item)
        tau = kendall_tau(list(own.values()), [item.by_action[action] for action in own])
        if tau is not None:
            taus.add(deal, tau)
        chosen = item.decision.action
        if chosen is not None and chosen in own:
            tops.add(deal, float(own[chosen] >= max(own.values()) - EQUAL))
    best = [[float(regret < EQUAL) for regret in group] for group in regrets.groups()]
    return Agreement(
        who,
        clustered_mean(regrets.groups()),
        clustered_rate(best),
        clustered_mean(taus.groups()),
        clustered_rate(tops.groups()),
    )


def _own_ratings(item: Rated) -> Mapping[str, float]:
    kept = item.decision.kept
    return {} if kept is None else {action: rating for action, rating in kept.ratings if rating is not None}


class _ByDeal:
    """Figures of decisions, those of one deal together."""

    def __init__(self) -> None:
        self._values: dict[int, list[float]] = {}

    def add(self, deal: int, value: float) -> None:
        self._values.setdefault(deal, []).append(value)

    def groups(self) -> list[list[float]]:
        return list(self._values.values())
