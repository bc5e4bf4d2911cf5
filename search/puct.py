"""PUCT: a choice among a node's actions that weighs them by a prior, without an object for an action until its turn.

The score of an action is `mean + c * prior * sqrt(visits of the node) / (1 + visits of the action)`. One not yet tried
counts as worth the node's mean less a reduction. Among those not tried, then, the one with the highest prior is always
the best: the actions are sorted by prior once, and a pointer tells the next.
"""

import math
import random
from collections.abc import Sequence
from typing import TypeVar

from games.api import Action, GameInfo
from search.api import PlannerConfig
from search.selection import Edge, half_range

Child = TypeVar("Child")


class PriorEdge(Edge[Child]):
    """An edge with a prior.

    Attributes:
        weight: the constant c times the prior, in the game's units.
        pull: weight / (1 + visits).
    """

    __slots__ = ("pull", "weight")

    def __init__(self, action: Action, player: int, child: Child, weight: float) -> None:
        super().__init__(action, player, child)
        self.weight = weight
        self.pull = weight

    def record(self, value: float) -> None:
        """Adds one simulation's return of the acting player."""
        self.visits = visits = self.visits + 1
        self.total = total = self.total + value
        self.mean = total / visits
        self.pull = self.weight / (1 + visits)


class Ranking:
    """Actions by prior, the highest first.

    Attributes:
        actions: the actions.
        weights: c times the prior of each, in the game's units.
        next: index of the first that has not been tried.
    """

    __slots__ = ("actions", "next", "weights")

    def __init__(self, actions: list[Action], weights: list[float]) -> None:
        self.actions = actions
        self.weights = weights
        self.next = 0

    def take(self) -> tuple[Action, float]:
        """Returns the next action and its weight, and moves on."""
        index = self.next
        self.next = index + 1
        return self.actions[index], self.weights[index]

    def give_back(self, action: Action) -> None:
        """Has an action tried once more, after all others: its simulation failed."""
        self.weights.append(self.weights[self.actions.index(action)])
        self.actions.append(action)


def told(ranking: Ranking | None) -> dict[Action, float] | None:
    """Returns the prior of each ranked action, summing to 1; None where there is none."""
    weights = {} if ranking is None else dict(zip(ranking.actions, ranking.weights, strict=True))
    total = sum(weights.values())
    return {action: weight / total for action, weight in weights.items()} if total > 0 else None


class Puct:
    """The rule.

    Attributes:
        constant: c, in the game's units.
        reduction: how much less than the node's mean an action not yet tried is worth, in the game's units.
    """

    def __init__(self, info: GameInfo, config: PlannerConfig) -> None:
        unit = half_range(info)
        self.constant = config.puct * unit
        self.reduction = config.first_play_reduction * unit
        self._flat = config.prior == "uniform"

    def rank(self, actions: Sequence[Action], chances: Sequence[float], rng: random.Random) -> Ranking:
        """Returns the actions by prior; among equals the order is random, so that no action is favoured by its place.

        Args:
            actions: the legal actions.
            chances: their prior.
            rng: orders equals.
        """
        indices = list(range(len(actions)))
        if self._flat:
            rng.shuffle(indices)
        else:
            # Much quicker than to shuffle, and where most priors differ as good.
            start = int(rng.random() * len(indices))
            indices = indices[start:] + indices[:start]
        indices.sort(key=chances.__getitem__, reverse=True)
        constant = self.constant
        return Ranking([actions[index] for index in indices], [constant * chances[index] for index in indices])

    def select(
        self, edges: Sequence[PriorEdge[Child]], visits: int, total: float, untried: float | None
    ) -> PriorEdge[Child] | None:
        """Chooses an action.

        Args:
            edges: the node's tried actions.
            visits: of the node.
            total: sum of the acting player's returns over these visits.
            untried: weight of the best action not yet tried, None if there is none.

        Returns:
            An edge, or None for the action not yet tried.
        """
        if not edges:
            return None
        scale = math.sqrt(visits)
        scores = [edge.mean + scale * edge.pull for edge in edges]
        return self._best(edges, scores, visits, total, untried)

    def select_uneven(
        self, edges: Sequence[PriorEdge[Child]], visits: int, total: float, untried: float | None
    ) -> PriorEdge[Child] | None:
        """Chooses as `select` does, at a node whose legal actions differ between determinizations: of the node's
        visits an action counts those alone at which it was legal (Cowling et al., 2012).

        Args:
            edges: those of the tried actions that are legal now, at least one if nothing is untried.
            visits: as above.
            total: as above.
            untried: as above.
        """
        if not edges:
            return None
        scores = [edge.mean + edge.pull * math.sqrt(visits - edge.unavailable) for edge in edges]
        return self._best(edges, scores, visits, total, untried)

    def _best(
        self,
        edges: Sequence[PriorEdge[Child]],
        scores: list[float],
        visits: int,
        total: float,
        untried: float | None,
    ) -> PriorEdge[Child] | None:
        top = max(scores)
        if untried is not None and total / visits - self.reduction + math.sqrt(visits) * untried > top:
            return None
        return edges[scores.index(top)]
