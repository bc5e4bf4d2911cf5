"""The simulations of a search: one loop for all settings."""

import random
from bisect import bisect
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from games.api import Action
from games.posg.api import Joint
from search.posg.config import PosgPlannerConfig
from search.posg.others import Mind, Minds
from search.posg.select import by_pucb, by_ucb
from search.posg.steps import Outcome, Place, Steps
from search.posg.tree import EgoEdge, EgoNode, Span
from search.posg.types import Types


class PosgParticle(NamedTuple):
    """What may be the case: a place, the number of the others' type, and their minds (none: they act at random)."""

    place: Place
    kind: int
    minds: tuple[Mind, ...]


class Lead(NamedTuple):
    """A policy of the ego's own that leads a simulation.

    Attributes:
        minds: by that policy.
        mind: the ego's at the root.
    """

    minds: Minds
    mind: Mind


Leads: TypeAlias = Callable[[int, float], Lead | None]
"""Gives the policy that leads a simulation, by the others' type and a number drawn from [0, 1); None: none does."""


class Simulator:
    """Simulations from one root; `abandon` takes back what a broken one left."""

    def __init__(self, steps: Steps, types: Types, config: PosgPlannerConfig) -> None:
        self._steps = steps
        self._types = types
        self._config = config
        self._ego = steps.ego
        self._others = types.others
        self._keeps = config.belief == "rejection"
        self._path: list[tuple[EgoNode, EgoEdge, float]] = []
        self.root = EgoNode()
        self.span = Span()

    def begin(
        self,
        root: EgoNode,
        draw: Callable[[float], PosgParticle],
        limit: int,
        rng: random.Random,
        leads: Leads | None = None,
    ) -> None:
        """Sets where simulations begin.

        Args:
            root: node of the present decision.
            draw: gives a particle of the belief for a number of [0, 1).
            limit: steps that a simulation takes at most.
            rng: of all that is drawn.
            leads: see `Leads`; None: by UCB and random rollouts.
        """
        self.root, self._draw, self._limit, self._leads = root, draw, limit, leads
        self._uniform = rng.random
        self._steps.begin(rng)

    def simulate(self) -> None:
        """Takes a particle, goes down to a leaf, values it, and backs the return up."""
        step, uniform, ego, span, config = self._steps.step, self._uniform, self._ego, self.span, self._config
        place, kind, minds = self._draw(uniform())
        lead = self._leads(kind, uniform()) if self._leads else None
        mind = lead.mind if lead else None
        node, left, value = self.root, self._limit, 0.0
        path = self._path
        path.clear()
        while left:
            if node.edges is None:
                node.open(self._steps.offered(place)[ego])
                value = self._valued(place, kind, minds, left, lead, mind)
                break
            if mind is None:
                edge = by_ucb(node, span, config.exploration)
            else:
                _lean(node, mind)
                edge = by_pucb(node, span, config.puct, config.mix)
            joint = self._joint(edge.action, place, minds)
            after = step(place, joint)
            place, paid, done, _, key = after
            path.append((node, edge, paid))
            if done:
                break
            left -= 1
            if minds:
                minds = self._minds_after(minds, kind, joint, after)
            if mind is not None and lead is not None:
                mind = self._own_after(lead.minds, mind, edge.action, after)
            child = edge.children.get(key)
            if child is None:
                child = edge.children[key] = EgoNode()
            if self._keeps:
                child.particles.append(PosgParticle(place, kind, minds))
            node = child
        self._back_up(value)

    def abandon(self) -> None:
        """Does nothing: a simulation changes visits and means at its end alone."""

    def _back_up(self, value: float) -> None:
        discount, span = self._config.discount, self.span
        for node, edge, paid in reversed(self._path):
            value = paid + discount * value
            node.visits += 1
            edge.visits = visits = edge.visits + 1
            edge.mean = mean = edge.mean + (value - edge.mean) / visits
            edge.spread = visits**-0.5
            if not span.low <= mean <= span.high:
                span.add(mean)

    def _joint(self, action: Action, place: Place, minds: tuple[Mind, ...]) -> Joint:
        uniform = self._uniform
        if len(self._others) == 1:
            if minds:
                mind = minds[0]
                other = mind.actions[0] if mind.sums is None else mind.actions[bisect(mind.sums, uniform())]
            else:
                legal = self._steps.offered(place)[1 - self._ego]
                other = legal[int(uniform() * len(legal))]
            return (other, action) if self._ego else (action, other)
        if minds:
            joint = [mind.act(uniform) for mind in minds]
        else:
            offered = self._steps.offered(place)
            joint = [offered[agent][int(uniform() * len(offered[agent]))] for agent in self._others]
        joint.insert(self._ego, action)
        return tuple(joint)

    def _minds_after(self, minds: tuple[Mind, ...], kind: int, joint: Joint, outcome: Outcome) -> tuple[Mind, ...]:
        seen = outcome.seen
        if len(minds) == 1:
            other = 1 - self._ego
            return (
                minds[0].after.get((joint[other], seen[other]))
                or self._types.minds[kind][0].after(
                    minds[0], joint[other], seen[other], self._steps.offered(outcome.place)[other]
                ),
            )
        return minds_after(self._types, self._steps, minds, kind, joint, outcome)

    def _own_after(self, minds: Minds, mind: Mind, action: Action, outcome: Outcome) -> Mind:
        seen = outcome.seen[self._ego]
        later = mind.after.get((action, seen))
        return later or minds.after(mind, action, seen, self._steps.offered(outcome.place)[self._ego])

    def _valued(
        self, place: Place, kind: int, minds: tuple[Mind, ...], left: int, lead: Lead | None, mind: Mind | None
    ) -> float:
        """Returns what a new leaf is worth: what the policy that leads expects, else a rollout's return."""
        if lead is not None and mind is not None:
            value = lead.minds.value(mind)
            if value is not None:
                return value
        if not minds and mind is None:
            return self._steps.rollout(place, left, self._config.discount)
        return self._rollout(place, kind, minds, left, lead, mind)

    def _rollout(
        self, place: Place, kind: int, minds: tuple[Mind, ...], left: int, lead: Lead | None, mind: Mind | None
    ) -> float:
        """Returns the ego's return of one game played on: itself at random or as it is led, the others by type."""
        step, uniform, ego, discount = self._steps.step, self._uniform, self._ego, self._config.discount
        offered = self._steps.offered
        total, factor = 0.0, 1.0
        while left:
            if mind is None:
                legal = offered(place)[ego]
                action = legal[int(uniform() * len(legal))]
            else:
                action = mind.act(uniform)
            joint = self._joint(action, place, minds)
            after = step(place, joint)
            total += factor * after.paid
            if after.done:
                break
            factor *= discount
            left -= 1
            if minds:
                minds = self._minds_after(minds, kind, joint, after)
            if mind is not None and lead is not None:
                mind = self._own_after(lead.minds, mind, action, after)
            place = after.place
        return total


def minds_after(
    types: Types, steps: Steps, minds: Sequence[Mind], kind: int, joint: Joint, outcome: Outcome
) -> tuple[Mind, ...]:
    """Returns what the others' minds become in a step."""
    later, offered = [], None
    for mind, by_policy, agent in zip(minds, types.minds[kind], types.others, strict=True):
        done, seen = joint[agent], outcome.seen[agent]
        found = mind.after.get((done, seen))
        if found is None:
            offered = offered or steps.offered(outcome.place)
            found = by_policy.after(mind, done, seen, offered[agent])
        later.append(found)
    return tuple(later)


def _lean(node: EgoNode, mind: Mind) -> None:
    """Adds the probabilities that a policy of the ego gives the actions of a node."""
    leaning = node.leaning
    if mind.sums is None:
        leaning[mind.legal.index(mind.actions[0])] += 1.0
        return
    for action, chance in zip(mind.actions, mind.chances, strict=True):
        leaning[mind.legal.index(action)] += chance
