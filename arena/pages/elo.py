"""Ratings of agents that play against each other: Bradley-Terry on the scale of Elo, with intervals over deals."""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from arena.matches.match import GameRecord

_POINTS: Final = 400 / math.log(10)
_ROUNDS: Final = 200
_DRAWN: Final = 200
"""Samples of deals behind an interval."""
_PRIOR: Final = 0.5
"""Games drawn with each other agent that everybody is given: who wins every game has a finite rating."""


@dataclass(frozen=True)
class Rating:
    """How strong an agent is.

    Attributes:
        agent: its name.
        value: points on the scale of Elo, 0 in the mean of all agents: 400 more win ten points to one.
        low: lower end of the 95 % interval over deals, None where there is one deal.
        high: upper end.
    """

    agent: str
    value: float
    low: float | None
    high: float | None


def ratings(records: Sequence[GameRecord]) -> list[Rating]:
    """Returns the agents from the strongest on; [] unless two or more met.

    Each pair of seats with different agents is a meeting: who is paid more wins it.
    """
    agents = sorted({name for record in records for name in record.seats})
    by_deal: dict[int, dict[tuple[str, str], float]] = {}
    for record in records:
        scores = by_deal.setdefault(record.deal_seed, {})
        for (name, paid), (other, theirs) in combinations(zip(record.seats, record.returns, strict=True), 2):
            if name != other:
                point = 1.0 if paid > theirs else 0.5 if paid == theirs else 0.0
                scores[name, other] = scores.get((name, other), 0.0) + point
                scores[other, name] = scores.get((other, name), 0.0) + 1.0 - point
    deals = [scores for _, scores in sorted(by_deal.items()) if scores]
    if len(agents) < 2 or not deals:
        return []
    fitted = _fitted(agents, deals)
    samples: dict[str, list[float]] = {agent: [] for agent in agents}
    if len(deals) > 1:
        rng = random.Random(0)
        for _ in range(_DRAWN):
            for agent, value in _fitted(agents, rng.choices(deals, k=len(deals))).items():
                samples[agent].append(value)
    found = [Rating(agent, fitted[agent], *_interval(samples[agent])) for agent in agents]
    return sorted(found, key=lambda rating: (-rating.value, rating.agent))


def _interval(values: Sequence[float]) -> tuple[float | None, float | None]:
    if not values:
        return None, None
    ordered = sorted(values)
    return ordered[round(0.025 * (len(ordered) - 1))], ordered[round(0.975 * (len(ordered) - 1))]


def _fitted(agents: Sequence[str], deals: Sequence[Mapping[tuple[str, str], float]]) -> dict[str, float]:
    """Returns the most likely strengths, by the iteration of Zermelo."""
    won = {(a, b): _PRIOR for a in agents for b in agents if a != b}
    for scores in deals:
        for pair, points in scores.items():
            won[pair] += points
    strength = dict.fromkeys(agents, 1.0)
    for _ in range(_ROUNDS):
        new = {}
        for agent in agents:
            others = [other for other in agents if other != agent]
            points = sum(won[agent, other] for other in others)
            met = sum((won[agent, o] + won[o, agent]) / (strength[agent] + strength[o]) for o in others)
            new[agent] = points / met
        mean = math.exp(sum(map(math.log, new.values())) / len(new))
        strength = {agent: value / mean for agent, value in new.items()}
    return {agent: _POINTS * math.log(value) for agent, value in strength.items()}
