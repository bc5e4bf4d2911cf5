"""The belief of POMCP as published: particles of the tree, topped up by rejection sampling."""

import random
from collections.abc import Sequence

from games.api import Action
from search.posg.belief import (
    Cloud,
    NotExplainedError,
    Scope,
    begun,
    drawn_act,
    drawn_starts,
    moved,
    no_start,
)
from search.posg.simulate import PosgParticle
from search.posg.told import Told


class RejectionBelief:
    """Keeps the particles that simulations brought to what was seen, tops them up with at most `tries` draws for each
    that is missing, and fills the rest with draws that were rejected, or with fitting ones once more (`fill`).

    Source: Silver and Veness, "Monte-Carlo planning in large POMDPs" (2010); the filling is POSGGym's.
    """

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self.cloud = Cloud()

    def start(self, told: Told, rng: random.Random) -> None:
        scope = self._scope
        scope.steps.begin(rng)
        starts, tries = drawn_starts(scope, told, scope.config.particles)
        if not starts:
            raise no_start(scope, told, tries)
        count = scope.config.particles
        kinds = (
            rng.choices(range(len(scope.types.names)), scope.types.prior, k=count) if scope.types.names else [0] * count
        )
        particles = [begun(scope, starts[index % len(starts)], kind) for index, kind in enumerate(kinds)]
        self.cloud = Cloud(particles, tries=tries)

    def update(self, action: Action, told: Told, reached: Sequence[PosgParticle], rng: random.Random) -> None:
        scope, config = self._scope, self._scope.config
        scope.steps.begin(rng)
        fitting, rejected = list(reached), list[PosgParticle]()
        missing, tries = config.particles - len(fitting), 0
        while len(fitting) < config.particles and tries < missing * config.tries:
            tries += 1
            particle = self.cloud.draw(rng.random())
            joint = drawn_act(scope, particle, action, rng)
            outcome = scope.steps.step(particle.place, joint)
            if outcome.done:
                continue
            if scope.hearing.key_of(outcome.key) == told.key:
                fitting.append(moved(scope, particle, joint, outcome))
            elif config.fill == "rejected" and len(rejected) < missing:
                rejected.append(moved(scope, particle, joint, outcome))
        filled = rejected[: max(0, config.particles - len(fitting))]
        if not fitting and not filled:
            raise NotExplainedError(
                f"none of {tries:,} draws from {len(self.cloud.particles):,} particles explains that agent "
                f"{scope.steps.ego} was told {told.json!r}."
            )
        copies = 0 if filled else config.particles - len(fitting)
        again = [fitting[int(rng.random() * len(fitting))] for _ in range(copies)]
        self.cloud = Cloud([*fitting, *again, *filled], contradicting=len(filled), tries=tries)
