"""A belief that is drawn anew in each step by the model's own inference, and weighed by the types of the others."""

import math
import random
from collections.abc import Sequence
from typing import Final

from games.api import Action
from games.posg.api import InfersPosg, LivedHistory, Observation, PosgError, PosgHistory
from games.posg.chance import MAX_BRANCHES
from search.api import PlannerConfigError
from search.posg.belief import Cloud, NotExplainedError, Scope, acts
from search.posg.belief_exact import Merging
from search.posg.others import Mind, Minds
from search.posg.simulate import PosgParticle
from search.posg.steps import Idle, Place, Seen, as_seen
from search.posg.told import Told

SLIP: Final = 1e-3
"""How likely an agent of any type is taken to act at random: draws are of others at random, and with many steps hardly
one is such that it could be of a type in each of them."""
LEAST_EFFECTIVE: Final = 0.05
"""The types' likelihood is tempered where fewer of the draws than this share would count."""


class InferredBelief:
    """Draws of `InfersPosg.resample`, which takes the others to act at random, each with every type, weighed by how
    much likelier that type is to act so than one at random."""

    def __init__(self, scope: Scope) -> None:
        """Raises:
        PlannerConfigError: the model has no inference.
        """
        if not isinstance(scope.steps.model, InfersPosg):
            raise PlannerConfigError(f"{scope.steps.model.info.id} infers nothing: use belief=adapted.")
        self._scope = scope
        self._model: InfersPosg = scope.steps.model
        self._history: list[tuple[Observation, Action | None]] = []
        self.cloud = Cloud()

    def start(self, told: Told, rng: random.Random) -> None:
        self._scope.steps.begin(rng)
        if self._scope.hearing.own_of(told) is None:
            for _, opening in self._scope.steps.openings(MAX_BRANCHES) or ():
                self._scope.hearing.key_of(opening.key)
        self.cloud = self._drawn([(self._read(told), None)], rng)

    def update(self, action: Action, told: Told, reached: Sequence[PosgParticle], rng: random.Random) -> None:
        self._scope.steps.begin(rng)
        if self._scope.hearing.own_of(told) is None:
            self._meet(action, told)
        seen, _ = self._history[-1]
        self.cloud = self._drawn([*self._history[:-1], (seen, action), (self._read(told), None)], rng)

    def _meet(self, action: Action, told: Told) -> None:
        """Goes through what may come of the belief until the model shows what the ego was told: that cannot be read."""
        scope = self._scope
        for particle in self.cloud.particles:
            for _, joint in acts(scope, particle, action, at_random=True):
                for _, outcome in scope.steps.ways(particle.place, joint, scope.config.branches) or ():
                    if scope.hearing.key_of(outcome.key) == told.key:
                        return

    def _read(self, told: Told) -> Observation:
        seen, steps = self._scope.hearing.own_of(told), self._scope.steps
        if seen is None:
            raise NotExplainedError(
                f"{steps.model.info.id} shows agent {steps.ego} nothing like {told.json!r} here; give observations as "
                "the game made them."
            )
        return seen

    def _drawn(self, history: list[tuple[Observation, Action | None]], rng: random.Random) -> Cloud:
        scope, count = self._scope, self._scope.config.particles
        kinds, rows = range(max(1, len(scope.types.names))), list[list[tuple[PosgParticle, float]]]()
        asked = tuple(history)  # the same one for all draws: a model may know it again
        for _ in range(count):
            try:
                state, private = self._model.resample(asked, scope.steps.ego, rng)
            except PosgError as error:
                raise NotExplainedError(str(error)) from error
            place = scope.steps.place(state)
            shown = [[(as_seen(told), action) for told, action in one or ()] for one in private]
            legal = [_legal_in(one) for one in private]
            rows.append([self._with_minds(place, shown, legal, kind) for kind in kinds])
        prior, merging = scope.types.prior or [1.0], Merging(scope)
        evidence = tempered([[likely for _, likely in row] for row in rows], prior, scope.config.evidence)
        most = max((likely for row in rows for _, likely in row), default=0.0)
        # Type by type: systematic resampling then keeps their shares, also where particles are few.
        for kind, share in enumerate(prior):
            for row in rows:
                particle, likely = row[kind]
                merging.add(particle, share * math.exp(evidence * (likely - most)))
        cloud = merging.cloud(rng, count, softened=False)
        cloud.evidence = evidence
        self._history = history
        return cloud

    def _with_minds(
        self,
        place: Place,
        private: Sequence[Sequence[tuple[Seen, Action | None]]],
        legal: Sequence[Sequence[Sequence[Action]]],
        kind: int,
    ) -> tuple[PosgParticle, float]:
        """Returns a particle, and the logarithm of how much likelier a type is to act as drawn than one at random."""
        scope = self._scope
        if not scope.types.names:
            return PosgParticle(place, 0, ()), 0.0
        minds, likely = [], 0.0
        for by_policy, agent in zip(scope.types.minds[kind], scope.types.others, strict=True):
            mind, more = self._mind(by_policy, place, private[agent], legal[agent], agent)
            minds.append(mind)
            likely += more
        return PosgParticle(place, kind, tuple(minds)), likely

    def _mind(
        self,
        by_policy: Minds,
        place: Place,
        history: Sequence[tuple[Seen, Action | None]],
        might: Sequence[Sequence[Action]],
        agent: int,
    ) -> tuple[Mind, float]:
        """Follows what an agent saw and did; where it is not told what else it might have done before now: anything."""
        steps, likely = self._scope.steps, 0.0
        every, idle = tuple(steps.model.info.actions[agent]), Idle(steps.model.info.actions[agent][:1])
        if not history:
            raise PosgError(f"{steps.model.info.id} infers no history of agent {agent}; expected what it saw and did.")
        last = len(history) - 1
        mind: Mind | None = None
        done: Action | None = None
        for number, (seen, action) in enumerate(history):
            legal = (
                steps.legal(place, agent)
                if number == last
                else idle
                if action is None
                else (might[number] if might else every)
            )
            if mind is None:
                mind = by_policy.first(seen, legal)
            else:
                acted = idle[0] if done is None else done
                mind = mind.after.get((acted, seen)) or by_policy.after(mind, acted, seen, legal)
            if action is not None and number < last:
                likely += math.log((1.0 - SLIP) * mind.chance(action) * len(legal) + SLIP)
            done = action
        assert mind is not None
        return mind, likely


def _legal_in(history: PosgHistory | None) -> Sequence[Sequence[Action]]:
    """Returns what an agent might have done at each of its moments; () if its history does not tell."""
    return history.legal if isinstance(history, LivedHistory) else ()


def tempered(likely: Sequence[Sequence[float]], prior: Sequence[float], evidence: float) -> float:
    """Returns the power of a likelihood, at most `evidence`, with which enough draws count.

    Args:
        likely: logarithms, [draws][types].
        prior: of the types.
        evidence: above 0.
    """

    def is_enough(power: float) -> bool:
        most = max(one for row in likely for one in row)
        weights = [
            math.fsum(share * math.exp(power * (one - most)) for one, share in zip(row, prior, strict=True))
            for row in likely
        ]
        squares = math.fsum(weight * weight for weight in weights)
        return math.fsum(weights) ** 2 >= LEAST_EFFECTIVE * len(likely) * squares

    if is_enough(evidence):
        return evidence
    low, high = 0.0, evidence
    for _ in range(12):
        middle = (low + high) / 2.0
        low, high = (middle, high) if is_enough(middle) else (low, middle)
    return low
