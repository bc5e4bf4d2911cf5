"""Edges of a search tree, and how a simulation chooses among them."""

import math
from collections.abc import Callable, Sequence
from typing import Generic, TypeAlias, TypeVar

from games.api import Action, GameInfo
from search.api import PlannerConfig

Child = TypeVar("Child")


class Edge(Generic[Child]):
    """One action at a node, with its statistics from the acting player's side.

    Attributes:
        action: the action.
        player: who takes it, `CHANCE` for an outcome.
        child: what it leads to: the next node (MCTS), or the key of the player's history after it (ISMCTS).
        visits: simulations that went through it and were backed up.
        total: sum of the acting player's returns after the action, in the game's units.
        mean: total / visits.
        spread: 1 / sqrt(visits), kept here because selection reads it far more often than it changes.
        unavailable: visits of the node at which the edge could not be chosen: those before it was made, and those at
            which the action was not legal. Kept in ISMCTS alone.
    """

    __slots__ = ("action", "child", "mean", "player", "spread", "total", "unavailable", "visits")

    def __init__(self, action: Action, player: int, child: Child) -> None:
        self.action = action
        self.player = player
        self.child = child
        self.visits = 0
        self.total = 0.0
        self.mean = 0.0
        self.spread = 1.0
        self.unavailable = 0

    def record(self, value: float) -> None:
        """Adds one simulation's return of the acting player."""
        self.visits = visits = self.visits + 1
        self.total = total = self.total + value
        self.mean = total / visits
        self.spread = visits**-0.5


Selector: TypeAlias = Callable[[Sequence[Edge[Child]], int], Edge[Child]]
"""Chooses one of the edges, each visited at least once, of a node with so many visits. A rule with priors fits the
same shape: it reads them from its edges."""
Widening: TypeAlias = Callable[[int], float]
"""How many children a node with n visits may have."""


def ucb(constant: float) -> Selector[Child]:
    """Returns the rule `mean + constant * sqrt(ln visits / edge.visits)` (UCT).

    Args:
        constant: in the game's units.
    """

    def select(edges: Sequence[Edge[Child]], visits: int) -> Edge[Child]:
        scale = constant * math.sqrt(math.log(visits))
        scores = [edge.mean + scale * edge.spread for edge in edges]
        return edges[scores.index(max(scores))]

    return select


def availability_ucb(constant: float) -> Selector[Child]:
    """Returns the rule for nodes whose legal actions differ between determinizations (Cowling et al., 2012).

    In the logarithm stands, instead of the node's visits, the number of those at which the action could be chosen: it
    was legal, and its edge was there. An edge that progressive widening made late so does not count the visits before
    it as chances that it missed, which would have it explored at once as if it had been passed over.

    Args:
        constant: in the game's units.
    """

    def select(edges: Sequence[Edge[Child]], visits: int) -> Edge[Child]:
        scores = [edge.mean + constant * edge.spread * math.sqrt(math.log(visits - edge.unavailable)) for edge in edges]
        return edges[scores.index(max(scores))]

    return select


def exploration_constant(info: GameInfo, config: PlannerConfig) -> float:
    """Returns the UCB constant in the game's units, so that returns need not be scaled to [-1, 1] one by one."""
    return config.exploration * half_range(info)


def half_range(info: GameInfo) -> float:
    """Returns half the game's utility range, the unit of the settings that are added to returns; 1 if it is empty."""
    half = (info.max_utility - info.min_utility) / 2.0
    return half if half > 0.0 else 1.0


def widening(config: PlannerConfig) -> Widening:
    """Returns the rule of progressive widening, without a limit where it is turned off."""
    coefficient, exponent, minimum = (
        config.widening_coefficient,
        config.widening_exponent,
        float(config.widening_minimum),
    )
    if coefficient <= 0.0:
        return lambda visits: math.inf
    return lambda visits: max(minimum, coefficient * (visits + 1.0) ** exponent)


def most_visited(edges: Sequence[Edge[Child]], order: Sequence[Action]) -> Edge[Child]:
    """Returns the edge with the most visits; ties go to the higher mean, then to the earlier action in `order`."""
    rank = {action: -position for position, action in enumerate(order)}
    return max(edges, key=lambda edge: (edge.visits, edge.mean, rank.get(edge.action, -len(rank))))


def pick(outcomes: Sequence[tuple[Action, float]], point: float) -> Action:
    """Returns the chance outcome at `point` of [0, 1) on the line of the probabilities."""
    for action, probability in outcomes:
        point -= probability
        if point < 0.0:
            return action
    # Probabilities may sum to a hair less than 1.
    return outcomes[-1][0]
