"""What the ego may believe: particles of states, types and minds, carried on from one observation to the next."""

import itertools
import math
import random
from bisect import bisect
from collections.abc import Hashable, Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple, Protocol

from games.api import Action
from games.posg.api import Joint, PosgError
from search.posg.config import PosgPlannerConfig
from search.posg.simulate import PosgParticle, minds_after
from search.posg.steps import Opening, Outcome, Steps
from search.posg.told import Hearing, Told
from search.posg.types import Types

FEWEST_STARTS: Final = 10_000
"""Starts that are drawn before it is given up to find one that shows the ego what it was told."""


class NotExplainedError(PosgError):
    """No particle explains what the ego was told."""


class Scope(NamedTuple):
    """What beliefs are made with."""

    steps: Steps
    types: Types
    hearing: Hearing
    config: PosgPlannerConfig


class PosgBelief(Protocol):
    """A belief of one ego in one game.

    Attributes:
        cloud: its particles now.
    """

    cloud: "Cloud"

    def start(self, told: Told, rng: random.Random) -> None:
        """Begins with what the ego was told first.

        Raises:
            NotExplainedError: no start shows the ego that.
        """
        ...

    def update(self, action: Action, told: Told, reached: Sequence[PosgParticle], rng: random.Random) -> None:
        """Takes in a step.

        Args:
            action: the ego's.
            told: what the ego was told then.
            reached: particles that simulations brought to the same observation.
            rng: of all that is drawn.

        Raises:
            NotExplainedError: no particle explains that; the belief stays as it was.
        """
        ...


class Cloud:
    """Weighted particles.

    Attributes:
        particles: distinct or not.
        weights: theirs, summing to 1.
        contradicting: how many of them would have shown the ego something else.
        tries: draws that were made for them.
        softened: whether what was seen has probability for no type, so that the others counted as acting at random.
        evidence: the power that the types' likelihood has in it.
    """

    evidence = 1.0

    def __init__(
        self,
        particles: Sequence[PosgParticle] = (),
        weights: Sequence[float] | None = None,
        contradicting: int = 0,
        tries: int = 0,
        softened: bool = False,
    ) -> None:
        """Args:
        particles: see the class.
        weights: positive, to be scaled; None for equal ones.
        contradicting: see the class.
        tries: see the class.
        softened: see the class.
        """
        self.particles = particles
        total = 0.0 if weights is None else math.fsum(weights)
        self.weights = (
            [1.0 / len(particles) for _ in particles] if weights is None else [one / total for one in weights]
        )
        self.contradicting, self.tries, self.softened = contradicting, tries, softened
        self._even = weights is None
        self._sums = [] if self._even else list(accumulate(self.weights))[:-1]

    def draw(self, point: float) -> PosgParticle:
        """Returns a particle for a number of [0, 1)."""
        particles = self.particles
        return particles[int(point * len(particles))] if self._even else particles[bisect(self._sums, point)]

    def posterior(self, types: int) -> list[float]:
        """Returns the probability of each type."""
        shares = [0.0] * types
        for particle, weight in zip(self.particles, self.weights, strict=True):
            shares[particle.kind] += weight
        return shares

    def figures(self, scope: Scope) -> dict[str, float]:
        """Returns what is reported of a belief, by name; `type NAME` is the probability of a type."""
        merged: dict[Hashable, float] = {}
        for particle, weight in zip(self.particles, self.weights, strict=True):
            key = particle_key(scope, particle)
            merged[key] = merged.get(key, 0.0) + weight
        names = scope.types.names
        return {
            "particles": float(len(self.particles)),
            "distinct": float(len(merged)),
            "contradicting": float(self.contradicting),
            "effective": 1.0 / max(math.fsum(weight * weight for weight in merged.values()), 1e-300),
            "tries": float(self.tries),
            "softened": float(self.softened),
            **({} if self.evidence == 1.0 else {"evidence": self.evidence}),
            **dict(zip((f"type {name}" for name in names), self.posterior(max(1, len(names))), strict=False)),
        }


def particle_key(scope: Scope, particle: PosgParticle) -> Hashable:
    """Returns something that is equal for equal particles."""
    return scope.steps.key(particle.place), particle.kind, particle.minds


def acts(scope: Scope, particle: PosgParticle, action: Action, at_random: bool) -> Iterator[tuple[float, Joint]]:
    """Yields what all may do, if the ego does `action`, with probabilities.

    Args:
        scope: see `Scope`.
        particle: where, and with which minds.
        action: the ego's.
        at_random: whether the others act at random whatever their type.
    """
    ego, others = scope.steps.ego, scope.types.others
    if particle.minds and not at_random:
        choices = [list(zip(mind.chances, mind.actions, strict=True)) for mind in particle.minds]
    else:
        offered = [scope.steps.legal(particle.place, agent) for agent in others]
        choices = [[(1.0 / len(legal), one) for one in legal] for legal in offered]
    for chosen in itertools.product(*choices):
        joint = [one for _, one in chosen]
        joint.insert(ego, action)
        yield math.prod(chance for chance, _ in chosen), tuple(joint)


def drawn_act(
    scope: Scope, particle: PosgParticle, action: Action, rng: random.Random, at_random: bool = False
) -> Joint:
    """Returns what all do, the others drawn by their minds; see `acts`."""
    ego, others, uniform = scope.steps.ego, scope.types.others, rng.random
    if particle.minds and not at_random:
        joint = [mind.act(uniform) for mind in particle.minds]
    else:
        offered = [scope.steps.legal(particle.place, agent) for agent in others]
        joint = [legal[int(uniform() * len(legal))] for legal in offered]
    joint.insert(ego, action)
    return tuple(joint)


def moved(scope: Scope, particle: PosgParticle, joint: Joint, outcome: Outcome) -> PosgParticle:
    """Returns what a particle becomes in a step."""
    minds = particle.minds
    if minds:
        minds = minds_after(scope.types, scope.steps, minds, particle.kind, joint, outcome.place, outcome.seen)
    return PosgParticle(outcome.place, particle.kind, minds)


def begun(scope: Scope, opening: Opening, kind: int) -> PosgParticle:
    """Returns the particle of a start, with the others of a type."""
    types = scope.types
    if not types.names:
        return PosgParticle(opening.place, 0, ())
    minds = tuple(
        by_policy.first(opening.seen[agent], scope.steps.legal(opening.place, agent))
        for by_policy, agent in zip(types.minds[kind], types.others, strict=True)
    )
    return PosgParticle(opening.place, kind, minds)


def drawn_starts(scope: Scope, told: Told, count: int) -> tuple[list[Opening], int]:
    """Draws starts that show the ego what it was told: given that, where the model can; else by rejection.

    Returns:
        At most `count` of them, and how many draws it took.
    """
    observation = scope.hearing.own_of(told)
    if observation is not None:
        first = scope.steps.opening_given(observation)
        if first is not None:
            given = (scope.steps.opening_given(observation) for _ in range(count - 1))
            return [first, *(one for one in given if one is not None)], count
    found: list[Opening] = []
    most = max(FEWEST_STARTS, scope.config.tries * count)
    for tried in range(1, most + 1):
        opening = scope.steps.opening()
        if scope.hearing.key_of(opening.key) == told.key:
            found.append(opening)
            if len(found) == count:
                return found, tried
    return found, most


def no_start(scope: Scope, told: Told, tries: int) -> NotExplainedError:
    """Returns the error that no start explains what the ego was told first."""
    drawn = f", of {tries:,} that were drawn," if tries else ""
    return NotExplainedError(
        f"no start of {scope.steps.model.info.id}{drawn} shows agent {scope.steps.ego} {told.json!r}; "
        "give observations as the game made them."
    )
