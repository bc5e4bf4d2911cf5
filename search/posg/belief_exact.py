"""The exact belief: everything that is possible, with its probability, by going through all that chance can do."""

import random
from collections.abc import Hashable, Sequence
from typing import Final

from games.api import Action
from games.posg.api import PosgError
from games.posg.chance import MAX_BRANCHES
from search.posg.belief import Cloud, NotExplainedError, Scope, acts, begun, moved, no_start, particle_key
from search.posg.simulate import PosgParticle
from search.posg.told import Told
from search.resampling import systematic

MOST_PARTICLES: Final = 200_000
"""Of an exact belief."""


class Merging:
    """Weighted particles, equal ones made one."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._places: dict[Hashable, int] = {}
        self.particles: list[PosgParticle] = []
        self.weights: list[float] = []

    def add(self, particle: PosgParticle, weight: float) -> None:
        key = particle_key(self._scope, particle)
        place = self._places.get(key)
        if place is None:
            self._places[key] = len(self.particles)
            self.particles.append(particle)
            self.weights.append(weight)
        else:
            self.weights[place] += weight

    def weigh_types(self, before: Cloud) -> None:
        """Raises the likelihood of each type in the step to the power `evidence`; within a type nothing changes.

        Args:
            before: the belief before the step.
        """
        evidence, count = self._scope.config.evidence, len(self._scope.types.names)
        if evidence == 1.0 or not count:
            return
        after = [0.0] * count
        for particle, weight in zip(self.particles, self.weights, strict=True):
            after[particle.kind] += weight
        powers = [
            (now / was) ** (evidence - 1.0) if now and was else 1.0
            for now, was in zip(after, before.posterior(count), strict=True)
        ]
        self.weights = [
            weight * powers[particle.kind] for particle, weight in zip(self.particles, self.weights, strict=True)
        ]

    def cloud(self, rng: random.Random, tries: int, softened: bool) -> Cloud:
        """Returns all of them, or, where they are more than the particles of a belief, as many drawn by weight."""
        count = self._scope.config.particles
        cloud = Cloud(self.particles, self.weights, tries=tries, softened=softened)
        if len(cloud.particles) <= count:
            return cloud
        copies = systematic(cloud.weights, count, rng)
        kept = [index for index, drawn in enumerate(copies) if drawn]
        particles = [cloud.particles[index] for index in kept]
        return Cloud(particles, [float(copies[index]) for index in kept], tries=tries, softened=softened)


def begin_exactly(scope: Scope, told: Told, limit: int) -> Merging | None:
    """Returns every start that shows the ego what it was told; None: there are more than `limit` starts.

    Raises:
        NotExplainedError: no start does.
    """
    openings = scope.steps.openings(limit)
    if openings is None:
        return None
    merging = Merging(scope)
    prior = scope.types.prior or [1.0]
    for chance, opening in openings:
        if scope.hearing.key_of(opening.key) == told.key:
            for kind, share in enumerate(prior):
                if share > 0.0:
                    merging.add(begun(scope, opening, kind), chance * share)
    if not merging.particles:
        raise no_start(scope, told, 0)
    return merging


def carry_on(
    scope: Scope,
    into: Merging,
    particle: PosgParticle,
    weight: float,
    action: Action,
    told: Told,
    limit: int,
    at_random: bool,
) -> bool:
    """Adds everything that a particle may have become.

    Args:
        scope: see `Scope`.
        into: what is added to.
        particle: before the step.
        weight: its weight.
        action: the ego's.
        told: what the ego was told then.
        limit: of the ways that chance may take.
        at_random: whether the others act at random whatever their type.

    Returns:
        Whether it could be gone through; if not, nothing was added.
    """
    found: list[tuple[PosgParticle, float]] = []
    for chance, joint in acts(scope, particle, action, at_random):
        ways = scope.steps.ways(particle.place, joint, limit)
        if ways is None:
            return False
        for probability, outcome in ways:
            if not outcome.done and scope.hearing.key_of(outcome.key) == told.key:
                found.append((moved(scope, particle, joint, outcome), weight * chance * probability))
    for later, share in found:
        into.add(later, share)
    return True


class ExactBelief:
    """The joint distribution of state, type and the others' minds."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self.cloud = Cloud()

    def start(self, told: Told, rng: random.Random) -> None:
        merging = begin_exactly(self._scope, told, MAX_BRANCHES)
        if merging is None:
            raise PosgError(
                f"{self._scope.steps.model.info.id} has too many starts for an exact belief: use 'adapted'."
            )
        self.cloud = Cloud(merging.particles, merging.weights)

    def update(self, action: Action, told: Told, reached: Sequence[PosgParticle], rng: random.Random) -> None:
        for at_random in (False, True):
            merging = Merging(self._scope)
            for particle, weight in zip(self.cloud.particles, self.cloud.weights, strict=True):
                carry_on(self._scope, merging, particle, weight, action, told, MAX_BRANCHES, at_random)
                if len(merging.particles) > MOST_PARTICLES:
                    raise PosgError(
                        f"an exact belief of {self._scope.steps.model.info.id} has more than {MOST_PARTICLES:,} "
                        "particles here: use 'adapted'."
                    )
            if merging.particles:
                merging.weigh_types(self.cloud)
                self.cloud = Cloud(merging.particles, merging.weights, softened=at_random)
                return
        raise not_explained(self._scope, self.cloud, told)


def not_explained(scope: Scope, cloud: Cloud, told: Told) -> NotExplainedError:
    """Returns the error that no particle explains what the ego was told."""
    return NotExplainedError(
        f"none of {len(cloud.particles):,} particles explains that agent {scope.steps.ego} was told {told.json!r}, "
        "whatever the others did."
    )
