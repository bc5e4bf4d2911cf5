"""The simulations of a search: one loop for all settings."""

import random
from bisect import bisect
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from games.api import Action
from games.posg.api import Joint, ValuesStates
from search.posg.config import PosgPlannerConfig
from search.posg.others import Mind, Minds
from search.posg.select import by_pucb, by_ucb
from search.posg.steps import Place, Seen, Steps
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
        model = steps.model
        self._worth = model.state_value if config.leaf == "value" and isinstance(model, ValuesStates) else None
        self._keeps = config.belief == "rejection"
        self._rolls_blindly = config.method == "intmcp"
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
            if node.legal is None:
                node.open(self._steps.legal(place, ego), mind is not None)
                value = self._valued(place, kind, minds, left, lead, mind)
                break
            if mind is None:
                edge = by_ucb(node, span, config.exploration)
            else:
                _lean(node, mind)
                edge = by_pucb(node, span, config.puct, config.mix)
            joint = self._joint(edge.action, place, minds)
            place, paid, done, seen, key = step(place, joint)
            path.append((node, edge, paid))
            if done:
                break
            left -= 1
            if minds:
                minds = minds_after(self._types, self._steps, minds, kind, joint, place, seen)
            if mind is not None and lead is not None:
                mind = self._own_after(lead.minds, mind, edge.action, place, seen[ego])
            child = edge.children.get(key)
            if child is None:
                child = edge.children[key] = EgoNode()
            if self._keeps:
                child.particles.append((place, kind, minds))
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
        uniform, legal = self._uniform, self._steps.legal
        if len(self._others) == 1:
            if minds:
                mind = minds[0]
                other = mind.actions[0] if mind.sums is None else mind.actions[bisect(mind.sums, uniform())]
            else:
                offered = legal(place, 1 - self._ego)
                other = offered[int(uniform() * len(offered))]
            return (other, action) if self._ego else (action, other)
        if minds:
            joint = [mind.act(uniform) for mind in minds]
        else:
            among = [legal(place, agent) for agent in self._others]
            joint = [one[int(uniform() * len(one))] for one in among]
        joint.insert(self._ego, action)
        return tuple(joint)

    def _own_after(self, minds: Minds, mind: Mind, action: Action, place: Place, seen: Seen) -> Mind:
        later = mind.after.get((action, seen))
        return later or minds.after(mind, action, seen, self._steps.legal(place, self._ego))

    def _valued(
        self, place: Place, kind: int, minds: tuple[Mind, ...], left: int, lead: Lead | None, mind: Mind | None
    ) -> float:
        """Returns what a new leaf is worth: what the value function says, or the policy that leads expects, else a
        rollout's return."""
        if self._worth is not None:
            return self._worth(self._steps.state(place), self._ego, left)
        if lead is not None and mind is not None:
            value = lead.minds.value(mind)
            if value is not None:
                return value
        if mind is None and (not minds or self._rolls_blindly):
            return self._steps.rollout(place, left, self._config.discount)
        return self._rollout(place, kind, minds, left, lead, mind)

    def _rollout(
        self, place: Place, kind: int, minds: tuple[Mind, ...], left: int, lead: Lead | None, mind: Mind | None
    ) -> float:
        """Returns the ego's return of one game played on: itself at random or as it is led, the others by type."""
        glide, legal, uniform, ego = self._steps.glide, self._steps.legal, self._uniform, self._ego
        total, factor, discount = 0.0, 1.0, self._config.discount
        pair, known = len(minds) == 1, self._types.minds[kind] if minds else ()
        while left:
            if mind is None:
                offered = legal(place, ego)
                action = offered[int(uniform() * len(offered))]
            else:
                action = mind.act(uniform)
            if pair:
                (one,) = minds
                other = one.actions[0] if one.sums is None else one.actions[bisect(one.sums, uniform())]
                joint: Joint = (other, action) if ego else (action, other)
            else:
                joint = self._joint(action, place, minds)
            place, paid, done, seen = glide(place, joint)
            if paid:
                total += factor * paid
            if done:
                break
            factor *= discount
            left -= 1
            if pair:
                told = seen[1 - ego]
                later = one.after.get((other, told))
                minds = (later or known[0].after(one, other, told, legal(place, 1 - ego)),)
            elif minds:
                minds = minds_after(self._types, self._steps, minds, kind, joint, place, seen)
            if mind is not None and lead is not None:
                mind = self._own_after(lead.minds, mind, action, place, seen[ego])
        return total


def minds_after(
    types: Types,
    steps: Steps,
    minds: Sequence[Mind],
    kind: int,
    joint: Joint,
    place: Place,
    seen: Sequence[Seen],
) -> tuple[Mind, ...]:
    """Returns what the others' minds become in a step.

    Args:
        types: of the others.
        steps: of the game.
        minds: of the others, before the step.
        kind: number of their type.
        joint: what all did.
        place: where the step led.
        seen: what each agent was told then.
    """
    later = []
    for mind, by_policy, agent in zip(minds, types.minds[kind], types.others, strict=True):
        done, told = joint[agent], seen[agent]
        found = mind.after.get((done, told))
        later.append(found or by_policy.after(mind, done, told, steps.legal(place, agent)))
    return tuple(later)


def _lean(node: EgoNode, mind: Mind) -> None:
    """Adds the probabilities that a policy of the ego gives the actions of a node."""
    leaning = node.leaning
    if mind.sums is None:
        leaning[mind.legal.index(mind.actions[0])] += 1.0
        return
    for action, chance in zip(mind.actions, mind.chances, strict=True):
        leaning[mind.legal.index(action)] += chance
