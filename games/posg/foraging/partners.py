"""Foragers who go for food in view: H1 to H5 of the POSGGym paper's populations (appendix A.2).

H1 goes for the closest food, H3 for the closest that it can lift alone. H2 goes for the food closest to the middle of
the foragers in view, H4 for the furthest from there that it can lift alone; both know of a middle only where they see
the other. H5 goes for any that the foragers in view can lift together, drawn anew in each step. Where two are as good,
either is as likely. Next to its food a forager lifts; else it goes nearer, each way as likely, whatever is in its way.
Without food to go for it does anything.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

from games.posg.foraging.field import ACROSS, ACTIONS, MIDDLE, UNSEEN, Foraging, Sight
from games.posg.policies import DrawnPolicy, PosgPolicy, at_the_table, evenly

Thing: TypeAlias = tuple[float, float, int]
"""Column and row in the view, and level."""
Chooser: TypeAlias = Callable[[Thing, Sequence[Thing], Sequence[Thing]], list[Thing]]
"""Given oneself, all foragers in view and the food: what to go for, each as likely."""

WALKS: Final = ((0, -1, "north"), (0, 1, "south"), (-1, 0, "west"), (1, 0, "east"))


class Forager(DrawnPolicy):
    """Remembers what it was told last alone."""

    def __init__(self, choose: Chooser) -> None:
        self._choose = choose
        self._chances = lru_cache(maxsize=100_000)(self._worked_out)

    def start(self, agent: int) -> Sight | None:
        return None

    def update(self, memory: Sight | None, action: str | None, observation: Sight) -> Sight:
        return observation

    def chances(self, memory: Sight) -> Mapping[str, float]:
        return self._chances(memory)

    def _worked_out(self, told: Sight) -> Mapping[str, float]:
        own = _thing(MIDDLE, told[0])
        agents = [own] if told[1] == UNSEEN else [own, _thing(told[1], told[2])]
        food = [_thing(place, level) for place, level in zip(told[3::2], told[4::2], strict=True)]
        targets = self._choose(own, agents, food)
        if not targets:
            return evenly(ACTIONS)
        total: dict[str, float] = {}
        for target in targets:
            for action, chance in towards(own, target).items():
                total[action] = total.get(action, 0.0) + chance / len(targets)
        return {action: total[action] for action in ACTIONS if action in total}


def towards(own: Thing, target: Thing) -> Mapping[str, float]:
    """Returns what a forager does who goes for something, with probabilities."""
    near = _far(own, target)
    if near == 1:
        return {"load": 1.0}
    return evenly([name for right, down, name in WALKS if _far((own[0] + right, own[1] + down, 0), target) < near])


def _thing(place: int, level: int) -> Thing:
    return place % ACROSS, place // ACROSS, level


def _far(one: Thing, other: Thing) -> float:
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def _middle(agents: Sequence[Thing]) -> Thing:
    columns, rows, _ = zip(*agents, strict=True)
    return sum(columns) / len(agents), sum(rows) / len(agents), 0


def _best(food: Sequence[Thing], rank: Callable[[Thing], float]) -> list[Thing]:
    best = min(map(rank, food), default=0.0)
    return [one for one in food if rank(one) == best]


def _h1(own: Thing, agents: Sequence[Thing], food: Sequence[Thing]) -> list[Thing]:
    return _best(food, lambda one: _far(own, one))


def _h2(own: Thing, agents: Sequence[Thing], food: Sequence[Thing]) -> list[Thing]:
    middle = _middle(agents)
    return [] if len(agents) == 1 else _best(food, lambda one: _far(middle, one))


def _h3(own: Thing, agents: Sequence[Thing], food: Sequence[Thing]) -> list[Thing]:
    return _best([one for one in food if one[2] <= own[2]], lambda one: _far(own, one))


def _h4(own: Thing, agents: Sequence[Thing], food: Sequence[Thing]) -> list[Thing]:
    middle = _middle(agents)
    return [] if len(agents) == 1 else _best([one for one in food if one[2] <= own[2]], lambda one: -_far(middle, one))


def _h5(own: Thing, agents: Sequence[Thing], food: Sequence[Thing]) -> list[Thing]:
    strength = sum(level for _, _, level in agents)
    return [one for one in food if one[2] <= strength]


def policies(model: Foraging) -> Mapping[str, PosgPolicy]:
    """Returns H1 to H5, by name; they know nothing of the model."""
    return {name: Forager(choose) for name, choose in (("H1", _h1), ("H2", _h2), ("H3", _h3), ("H4", _h4), ("H5", _h5))}


_MODEL: Final = Foraging()
PARTNERS: Final = {
    name: at_the_table(policy, _MODEL.observation_from_json) for name, policy in policies(_MODEL).items()
}
"""Every partner by name."""
