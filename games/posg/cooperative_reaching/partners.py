"""Partners that make for goals: H1 to H11 of the POSGGym paper's populations (Schwartz et al. 2025, appendix A.2).

H1 to H6 choose a goal at the start: the closest or the furthest of all, of the best or of the lesser ones; H7 any. H8
to H10 make in each step for the one closest to the other agent, of all, of the best, of the lesser ones. H11 follows
the other. Whoever is where it wants to be stays; where two choices are as good, either is as likely.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from games.posg.cooperative_reaching.model import ACTIONS, UNSEEN, Cells, CooperativeReaching
from games.posg.policies import DrawnPolicy, PosgPolicy, at_the_table, evenly

Weights: TypeAlias = tuple[tuple[int, float], ...]
"""Cells that an agent may be making for, each with its probability."""
Remembered: TypeAlias = tuple[Cells, Weights] | None
"""What was told last, and what the agent may be making for; None before the start."""
Ranks: TypeAlias = Callable[[int], int]


class _Walker(DrawnPolicy):
    """Makes for a cell by a shortest way, each first step of one as likely as any other."""

    def __init__(self, model: CooperativeReaching) -> None:
        self.model = model
        self._distributions: dict[tuple[int, Weights], Mapping[str, float]] = {}

    def start(self, agent: int) -> Remembered:
        return None

    def chances(self, memory: Remembered) -> Mapping[str, float]:
        """Returns the mean of the ways to what the agent may be making for."""
        assert memory is not None, "a policy acts after it was told something"
        (own, _), weights = memory
        key = own, weights
        if key not in self._distributions:
            total: dict[str, float] = {}
            for target, weight in weights:
                for action, share in self.towards(own, target).items():
                    total[action] = total.get(action, 0.0) + weight * share
            self._distributions[key] = {action: total[action] for action in ACTIONS if action in total}
        return self._distributions[key]

    def towards(self, cell: int, target: int) -> Mapping[str, float]:
        """Returns the first steps of shortest ways; to stay, at the target."""
        near = self.distance(cell, target)
        closer = [action for action in ACTIONS if self.distance(self.model.next[action][cell], target) < near]
        return evenly(closer or ["stay"])

    def distance(self, cell: int, target: int) -> int:
        """Returns how many steps one cell is from another."""
        size = self.model.size
        return abs(cell % size - target % size) + abs(cell // size - target // size)


class GoalChooser(_Walker):
    """Chooses a goal at the start; `rank` says how far one should be, lowest first, given the own distance."""

    def __init__(self, model: CooperativeReaching, values: Sequence[float], rank: Ranks) -> None:
        super().__init__(model)
        self._goals = [cell for cell, value in model.goals.items() if value in values]
        self._rank = rank

    def update(self, memory: Remembered, action: str | None, observation: Cells) -> Remembered:
        """Returns what was told, and how likely each goal is given what the agent did."""
        if memory is None:
            return observation, self.first(observation)
        (own, _), weights = memory
        if action is None or len(weights) == 1:
            return observation, weights
        kept = [(goal, weight * self.towards(own, goal).get(action, 0.0)) for goal, weight in weights]
        total = sum(weight for _, weight in kept)
        if total == 0.0:  # not this policy's action: it makes for what it made for
            return observation, weights
        return observation, tuple((goal, round(weight / total, 12)) for goal, weight in kept if weight > 0.0)

    def first(self, observation: Cells) -> Weights:
        """Returns how likely each goal is that it may choose at the start."""
        return _evenly_best(self._goals, lambda goal: self._rank(self.distance(observation[0], goal)))


class GoalFollower(_Walker):
    """Makes in each step for the goal closest to the other agent; without goals for that agent itself."""

    def __init__(self, model: CooperativeReaching, values: Sequence[float]) -> None:
        super().__init__(model)
        self._goals = [cell for cell, value in model.goals.items() if value in values]

    def update(self, memory: Remembered, action: str | None, observation: Cells) -> Remembered:
        """Returns what was told, and where the agent goes for that; nowhere while it does not see the other."""
        own, other = observation
        if other == UNSEEN:
            return observation, ((own, 1.0),)
        if not self._goals:
            return observation, ((other, 1.0),)
        return observation, _evenly_best(self._goals, lambda goal: self.distance(other, goal))


def _evenly_best(goals: Sequence[int], rank: Ranks) -> Weights:
    best = min(map(rank, goals))
    chosen = [goal for goal in goals if rank(goal) == best]
    return tuple((goal, 1.0 / len(chosen)) for goal in chosen)


def policies(model: CooperativeReaching) -> Mapping[str, PosgPolicy]:
    """Returns H1 to H11 on a model, by name."""
    every = tuple(sorted(set(model.goals.values()), reverse=True))
    best, lesser = every[:1], every[1:]

    def closest(distance: int) -> int:
        return distance

    def furthest(distance: int) -> int:
        return -distance

    return {
        "H1": GoalChooser(model, every, closest),
        "H2": GoalChooser(model, every, furthest),
        "H3": GoalChooser(model, best, closest),
        "H4": GoalChooser(model, best, furthest),
        "H5": GoalChooser(model, lesser, closest),
        "H6": GoalChooser(model, lesser, furthest),
        "H7": GoalChooser(model, every, lambda distance: 0),
        "H8": GoalFollower(model, every),
        "H9": GoalFollower(model, best),
        "H10": GoalFollower(model, lesser),
        "H11": GoalFollower(model, ()),
    }


_MODEL: Final = CooperativeReaching()
PARTNERS: Final = {
    name: at_the_table(policy, _MODEL.observation_from_json) for name, policy in policies(_MODEL).items()
}
"""Every partner by name."""
