"""The tree of a search: what the ego may see and do from now on."""

from collections.abc import Hashable, Sequence
from typing import Any

from games.api import Action


class EgoEdge:
    """One action of the ego at a node.

    Attributes:
        action: the action.
        visits: simulations through it.
        mean: their mean discounted return from here on.
        spread: 1 / sqrt(visits).
        children: nodes by what the ego can tell afterwards.
    """

    __slots__ = ("action", "children", "mean", "spread", "visits")

    def __init__(self, action: Action) -> None:
        self.action = action
        self.visits = 0
        self.mean = 0.0
        self.spread = 1.0
        self.children: dict[Hashable, EgoNode] = {}


class EgoNode:
    """What the ego saw and did, seen from the root on.

    Attributes:
        visits: simulations that chose an action here.
        legal: the ego's actions; None: no simulation has been here yet.
        edges: those that were tried; by PUCB all of them.
        particles: that simulations brought here, as plain tuples; empty where no belief is made of them.
        leaning: by action, the sum over visits of the probabilities that policies of the ego gave it.
    """

    __slots__ = ("edges", "leaning", "legal", "particles", "visits")

    def __init__(self) -> None:
        self.visits = 0
        self.legal: Sequence[Action] | None = None
        self.edges: list[EgoEdge] = []
        self.particles: list[tuple[Any, ...]] = []
        self.leaning: list[float] = []

    def open(self, actions: Sequence[Action], led: bool) -> None:
        """Adds the ego's actions; `led`: policies will say how likely they are."""
        self.legal = actions
        if led:
            self.edges = [EgoEdge(action) for action in actions]
            self.leaning = [0.0] * len(actions)


class Span:
    """The smallest and the largest action value that was met in a tree.

    Source: Schrittwieser et al., "Mastering Atari, Go, chess and shogi by planning with a learned model" (2020).
    """

    __slots__ = ("high", "low", "width")

    def __init__(self) -> None:
        self.low = float("inf")
        self.high = float("-inf")
        self.width = 1.0

    def add(self, value: float) -> None:
        """Takes a value in."""
        if value < self.low:
            self.low = value
        if value > self.high:
            self.high = value
        if self.high > self.low:
            self.width = self.high - self.low
