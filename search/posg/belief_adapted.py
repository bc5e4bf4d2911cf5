"""A belief whose particles never contradict what was seen: each is weighed by how likely it makes that, and carried on
to places that do show it."""

import random
from collections.abc import Sequence
from typing import Final

from games.api import Action
from search.posg.belief import FEWEST_STARTS, Cloud, Scope, begun, drawn_act, drawn_starts, moved, no_start
from search.posg.belief_exact import Merging, begin_exactly, carry_on, not_explained
from search.posg.simulate import PosgParticle
from search.posg.told import Told
from search.resampling import systematic

TOO_WIDE: Final = 3
"""After so many particles whose steps have too many ways to go through, those of the others are drawn, too."""


class AdaptedBelief:
    """A fully adapted filter: exact where its particles are enough for all that is possible, else resampled.

    Source: Pitt and Shephard, "Filtering via simulation: auxiliary particle filters" (1999).
    """

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self.cloud = Cloud()

    def start(self, told: Told, rng: random.Random) -> None:
        scope, count = self._scope, self._scope.config.particles
        scope.steps.begin(rng)
        observation = scope.hearing.own_of(told)
        given = observation is not None and scope.steps.opening_given(observation) is not None
        # Where starts cannot be drawn given what was seen, going through as many as would be drawn costs no more.
        limit = max(count, scope.config.branches) if given else max(FEWEST_STARTS, scope.config.tries * count)
        merging, tries = begin_exactly(scope, told, limit), 0
        if merging is None:
            starts, tries = drawn_starts(scope, told, count)
            if not starts:
                raise no_start(scope, told, tries)
            merging = Merging(scope)
            for opening, kind in zip(starts, self._kinds(len(starts), rng), strict=True):
                merging.add(begun(scope, opening, kind), 1.0)
        self.cloud = merging.cloud(rng, tries, softened=False)

    def update(self, action: Action, told: Told, reached: Sequence[PosgParticle], rng: random.Random) -> None:
        self._scope.steps.begin(rng)
        for at_random in (False, True):
            merging, tries = self._gone_through(action, told, rng, at_random)
            if merging.particles:
                merging.weigh_types(self.cloud)
                self.cloud = merging.cloud(rng, tries, at_random)
                return
        raise not_explained(self._scope, self.cloud, told)

    def _kinds(self, count: int, rng: random.Random) -> list[int]:
        """Returns the types of `count` particles: as evenly as the prior is, in random order."""
        prior = self._scope.types.prior or [1.0]
        kinds = [kind for kind, copies in enumerate(systematic(prior, count, rng)) for _ in range(copies)]
        rng.shuffle(kinds)
        return kinds

    def _gone_through(self, action: Action, told: Told, rng: random.Random, at_random: bool) -> tuple[Merging, int]:
        """Returns what the particles may have become, and how many draws that took."""
        scope, cloud = self._scope, self.cloud
        merging, too_wide = Merging(scope), 0
        # Few distinct particles may have many ways each: what counts is how many are gone through in all.
        limit = scope.config.branches * max(1, scope.config.particles // len(cloud.particles))
        for particle, weight in zip(cloud.particles, cloud.weights, strict=True):
            if not carry_on(scope, merging, particle, weight, action, told, limit, at_random):
                too_wide += 1
                if too_wide == TOO_WIDE:
                    return self._drawn(action, told, rng, at_random)
        return (merging, 0) if not too_wide else self._drawn(action, told, rng, at_random)

    def _drawn(self, action: Action, told: Told, rng: random.Random, at_random: bool) -> tuple[Merging, int]:
        """Returns the same by draws: given what was seen, where the model can, else by rejection."""
        scope, cloud, config = self._scope, self.cloud, self._scope.config
        merging, count = Merging(scope), config.particles
        observation = scope.hearing.own_of(told)
        if scope.steps.draws_given and observation is not None:
            for tried in range(count):
                particle = cloud.draw((tried + rng.random()) / count)
                joint = drawn_act(scope, particle, action, rng, at_random)
                given = scope.steps.step_given(particle.place, joint, observation)
                if given is not None and given[0] > 0.0 and not given[1].done:
                    merging.add(moved(scope, particle, joint, given[1]), given[0])
            return merging, count
        tries = fits = 0
        while fits < count and tries < count * config.tries * 4:
            tries += 1
            particle = cloud.draw(rng.random())
            joint = drawn_act(scope, particle, action, rng, at_random)
            outcome = scope.steps.step(particle.place, joint)
            if not outcome.done and scope.hearing.key_of(outcome.key) == told.key:
                merging.add(moved(scope, particle, joint, outcome), 1.0)
                fits += 1
        return merging, tries
