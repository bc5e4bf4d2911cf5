"""Others who search, too: a tree an agent and level, which takes the others to search one level below.

A tree holds every history that its agent may have, so far as levels above give it weight. Its searches begin at these
histories, drawn by that weight, with particles of states and the histories of others, whose nodes lie one level below.

Source: Schwartz, Zhou, Kurniawati, "Online planning for interactive-POMDPs using nested Monte Carlo tree search"
(2022).
"""

import itertools
import math
import random
from bisect import bisect
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from games.api import Action
from games.posg.api import PosgInfo, PosgModel
from search.errors import ErrorCount, run_simulations
from search.posg.belief import Cloud, NotExplainedError, Scope, begun
from search.posg.belief_rejection import RejectionBelief
from search.posg.config import PosgPlannerConfig
from search.posg.others import Mind, Minds, Uniform
from search.posg.simulate import PosgParticle, Simulator
from search.posg.steps import WAITS, Idle, Seen
from search.posg.tables import steps_of
from search.posg.told import Hearing
from search.posg.tree import EgoEdge, EgoNode, Span
from search.posg.types import Types


class NestedMind(Mind):
    """A history of an agent: `memory` is its node. The agent acts by a softmax of visits / sqrt(their sum) there.

    Attributes:
        key: what the agent can tell there (`Outcome.key`).
        visits: of the node when its probabilities were worked out.
    """

    __slots__ = ("key", "visits")

    def __init__(self, node: EgoNode, legal: Sequence[Action], key: Hashable) -> None:
        super().__init__(node, legal, _chances(node, legal))
        self.key = key
        self.visits = node.visits

    def renew(self) -> bool:
        """Works its probabilities out again; returns whether a search has been here since."""
        node: EgoNode = self.memory
        if node.visits == self.visits:
            return False
        self.visits = node.visits
        self.plays(_chances(node, self.legal))
        return True


def _chances(node: EgoNode, legal: Sequence[Action]) -> list[float]:
    if not node.visits:
        return [1.0 / len(legal)] * len(legal)
    counts = {edge.action: edge.visits for edge in node.edges}
    most, scale = max(counts.values()), node.visits**-0.5
    weights = [math.exp((counts.get(action, 0) - most) * scale) for action in legal]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


class NestedMinds(Minds):
    """The histories of one agent in its tree of one level."""

    def __init__(self, agent: int, level: int) -> None:
        super().__init__(f"level {level}", Uniform(), agent)
        self._roots: dict[Hashable, NestedMind] = {}

    def first(self, seen: Seen, legal: Sequence[Action]) -> Mind:
        key = _key(seen, legal)
        found = self._roots.get(key)
        if found is None:
            found = self._roots[key] = NestedMind(EgoNode(), tuple(legal), key)
        return found

    def after(self, mind: Mind, action: Action, seen: Seen, legal: Sequence[Action]) -> Mind:
        if seen is None:  # the game is over for the agent
            return mind
        node, key = mind.memory, _key(seen, legal)
        # All edges in their order: the search of the tree's own agent counts on it, and may not have come here yet.
        node.edges += [EgoEdge(one) for one in mind.legal[len(node.edges) :]]
        children = node.edges[mind.legal.index(action)].children
        child = children.get(key)
        if child is None:
            child = children[key] = EgoNode()
        later = mind.after[action, seen] = NestedMind(child, tuple(legal), key)
        return later

    def forget(self) -> None:
        """Lets go of where games start: what lies behind the histories that are possible now is not asked for again."""
        self._roots.clear()


def _key(seen: Seen, legal: Sequence[Action]) -> Hashable:
    return (WAITS, seen) if isinstance(legal, Idle) else seen


class NestedTypes(Types):
    """One type: all others search one level below."""

    def __init__(self, info: PosgInfo, ego: int, minds: Sequence[NestedMinds]) -> None:
        super().__init__(info, ego, {})
        if minds:
            self.names, self.minds, self.prior = [minds[0].name], [tuple(minds)], [1.0]


class NestedTree:
    """The search of one agent on one level.

    Attributes:
        minds: its histories, as the level above sees them.
        scope: what its beliefs are made with.
    """

    def __init__(self, model: PosgModel, agent: int, level: int, below: Sequence[NestedMinds], scope: Scope) -> None:
        """Args:
        model: the game.
        agent: who searches.
        level: of its search.
        below: histories of the others one level below; none on level 0.
        scope: of the planner.
        """
        # Beliefs as published, but for particles that contradict what was seen: there, none are better than wrong ones.
        config = replace(scope.config, belief="rejection", fill="fitting")
        steps, types = steps_of(model, agent, scope.config.tables), NestedTypes(model.info, agent, below)
        self.minds = NestedMinds(agent, level)
        self.scope = Scope(steps, types, Hearing(model, agent), config)
        self._simulator = Simulator(steps, types, config)
        self._beliefs: dict[NestedMind, RejectionBelief] = {}
        self._shares: dict[NestedMind, float] = {}
        self._has_begun = False

    def reset(self) -> None:
        """Forgets the game."""
        self.minds.forget()
        self._simulator.span = Span()
        self._beliefs, self._shares, self._has_begun = {}, {}, False

    @property
    def is_lost(self) -> bool:
        """Whether no particle explains any history that is possible now."""
        return not self._beliefs

    def follow(self, shares: Mapping[NestedMind, float], rng: random.Random) -> None:
        """Moves on to the histories that are possible now.

        A history that no particle explains is left out: there the agent acts as it was searched so far, or at random.

        Args:
            shares: their probabilities, as the level above believes.
            rng: of all that is drawn.
        """
        self.scope.steps.begin(rng)
        self._beliefs = self._moved(shares, rng) if self._has_begun else self._started(shares, rng)
        self._has_begun = True
        self._shares = {mind: shares[mind] for mind in self._beliefs}
        self.minds.forget()

    def believed(self) -> Iterable[tuple[float, Cloud]]:
        """Yields the beliefs at the histories that are possible now, with the weights of these."""
        for mind, belief in self._beliefs.items():
            yield self._shares[mind], belief.cloud

    def _started(self, shares: Mapping[NestedMind, float], rng: random.Random) -> dict[NestedMind, RejectionBelief]:
        """Shares starts out among first observations: as many draws for all of them as for one agent's own belief."""
        scope, config = self.scope, self.scope.config
        wanted = {mind.key: mind for mind in shares}
        found: dict[NestedMind, list[PosgParticle]] = {}
        for _ in range(config.particles * config.tries):
            opening = scope.steps.opening()
            mind = wanted.get(opening.key)
            if mind is not None:
                found.setdefault(mind, []).append(begun(scope, opening, 0))
        beliefs = {}
        for mind, particles in found.items():
            beliefs[mind] = RejectionBelief(scope)
            beliefs[mind].cloud = Cloud(particles[: self._count(shares[mind])])
        return beliefs

    def _moved(self, shares: Mapping[NestedMind, float], rng: random.Random) -> dict[NestedMind, RejectionBelief]:
        beliefs = {}
        for before, belief in self._beliefs.items():
            for (action, _), mind in before.after.items():
                if not isinstance(mind, NestedMind) or mind not in shares or action is None:
                    continue
                config = replace(self.scope.config, particles=self._count(shares[mind]))
                later = RejectionBelief(self.scope._replace(config=config))
                later.cloud = belief.cloud
                reached = [PosgParticle(*one) for one in mind.memory.particles]
                mind.memory.particles = []
                try:
                    later.update(action, self.scope.hearing.told_of(mind.key), reached, rng)
                except NotExplainedError:
                    continue
                beliefs[mind] = later
        return beliefs

    def _count(self, share: float) -> int:
        """Returns how many particles a history of some probability has."""
        return max(1, math.ceil(share * self.scope.config.particles))

    def begin(self, limit: int, rng: random.Random) -> None:
        """Prepares simulations of at most `limit` steps."""
        self._limit, self._rng = limit, rng
        self._starts = list(self._beliefs.items())
        self._sums = list(accumulate(self._shares.values()))

    def simulate(self) -> None:
        """Runs a simulation from one of the histories that are possible now; the tree is not lost."""
        mind, belief = self._starts[bisect(self._sums, self._rng.random() * self._sums[-1], 0, len(self._sums) - 1)]
        self._simulator.begin(mind.memory, belief.cloud.draw, self._limit, self._rng)
        self._simulator.simulate()

    def renew(self) -> None:
        """Works out again how the agent acts wherever simulations have been."""
        waiting: list[Mind] = [*self._beliefs]
        while waiting:
            mind = waiting.pop()
            if isinstance(mind, NestedMind) and mind.renew():
                waiting += mind.after.values()


class Nest:
    """The searches below one's own.

    Attributes:
        types: of the others, for one's own search.
    """

    def __init__(self, model: PosgModel, ego: int, scope: Scope) -> None:
        """Args:
        model: the game.
        ego: who plans, on level `scope.config.level`, which is above 0.
        scope: of the planner; its types are not read.
        """
        agents, levels = range(model.info.num_agents), scope.config.level
        above, wanted = {ego}, list[set[int]]()
        for _ in range(levels):
            above = {other for agent in above for other in agents if other != agent}
            wanted.append(above)
        self._trees: list[dict[int, NestedTree]] = []
        for level, here in enumerate(reversed(wanted)):
            below = self._trees[-1] if self._trees else {}
            self._trees.append(
                {
                    agent: NestedTree(
                        model, agent, level, [below[other].minds for other in agents if other != agent and below], scope
                    )
                    for agent in sorted(here)
                }
            )
        top = self._trees[-1]
        self.types = NestedTypes(model.info, ego, [top[other].minds for other in agents if other != ego])

    def reset(self) -> None:
        """Forgets the game."""
        for tree in self._all():
            tree.reset()

    def follow(self, cloud: Cloud, rng: random.Random) -> None:
        """Hands the histories that the ego believes possible down the levels."""
        above: list[tuple[Types, list[tuple[float, Cloud]]]] = [(self.types, [(1.0, cloud)])]
        for trees in reversed(self._trees):
            shares: dict[int, dict[NestedMind, float]] = {agent: {} for agent in trees}
            for types, believed in above:
                for weight, one in believed:
                    _add(shares, types, weight / len(above), one)
            for agent, tree in trees.items():
                total = math.fsum(shares[agent].values())
                tree.follow({mind: share / total for mind, share in shares[agent].items()}, rng)
            above = [(tree.scope.types, list(tree.believed())) for tree in trees.values()]

    def search(self, config: PosgPlannerConfig, limit: int, rng: random.Random, errors: ErrorCount) -> int:
        """Searches level by level, lowest first, each with its part of the simulations or seconds.

        Returns:
            How many simulations there were.
        """
        done = 0
        for trees in self._trees:
            searching = [tree for tree in trees.values() if not tree.is_lost]
            for tree in searching:
                tree.begin(limit, rng)
            if not searching or config.simulations < config.searches:
                continue
            turns = itertools.cycle(searching)
            part = None if config.seconds is None else config.seconds / config.searches
            count, _ = run_simulations(
                lambda turns=turns: next(turns).simulate(),  # type: ignore[misc]
                lambda: None,
                config.simulations // config.searches,
                errors,
                part,
            )
            done += count
            for tree in searching:
                tree.renew()
        return done

    def _all(self) -> Iterable[NestedTree]:
        for trees in self._trees:
            yield from trees.values()


def _add(shares: Mapping[int, dict[NestedMind, float]], types: Types, weight: float, cloud: Cloud) -> None:
    """Adds the histories of the others that a belief holds, by agent."""
    for particle, share in zip(cloud.particles, cloud.weights, strict=True):
        for other, mind in zip(types.others, particle.minds, strict=True):
            if isinstance(mind, NestedMind):
                shares[other][mind] = shares[other].get(mind, 0.0) + weight * share
