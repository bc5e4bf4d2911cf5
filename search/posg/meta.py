"""Which of its own policies an agent would rather follow, given what the others are: a meta-policy.

Source: Schwartz, Kurniawati, Hutter, "Combining a meta-policy and Monte-Carlo planning for scalable type-based
reasoning in partially observable environments" (2023).
"""

import math
import random
from collections.abc import Sequence
from typing import Final

from search.posg.belief import Scope, begun, drawn_act, moved
from search.posg.config import PosgPlannerConfig
from search.posg.others import Minds

MOST_STEPS: Final = 1_000
"""Of a game that has no limit of its own."""


def shares(payoffs: Sequence[float], config: PosgPlannerConfig) -> list[float]:
    """Returns how likely each policy is to be followed.

    Args:
        payoffs: what each is worth against one type, [policies].
        config: `meta` and `temperature`.
    """
    if config.meta == "uniform":
        return [1.0 / len(payoffs)] * len(payoffs)
    best = max(payoffs)
    if config.meta == "greedy":
        number = payoffs.index(best)
        return [float(index == number) for index in range(len(payoffs))]
    weights = [math.exp((payoff - best) / config.temperature) for payoff in payoffs]
    return [weight / math.fsum(weights) for weight in weights]


def payoffs(scope: Scope, policies: Sequence[Minds], rng: random.Random) -> list[list[float]]:
    """Plays `episodes` games of each policy of the ego with each type of the others.

    Args:
        scope: see `Scope`.
        policies: the ego's own.
        rng: of all that is drawn.

    Returns:
        Mean undiscounted returns of the ego, [types][policies].
    """
    episodes = scope.config.episodes
    scope.steps.begin(rng)
    return [
        [math.fsum(_played(scope, policy, kind, rng) for _ in range(episodes)) / episodes for policy in policies]
        for kind in range(len(scope.types.names))
    ]


def _played(scope: Scope, policy: Minds, kind: int, rng: random.Random) -> float:
    steps, ego = scope.steps, scope.steps.ego
    limit = MOST_STEPS if steps.model.info.step_limit is None else steps.model.info.step_limit
    opening = steps.opening()
    particle = begun(scope, opening, kind)
    mind = policy.first(opening.seen[ego], steps.legal(opening.place, ego))
    total = 0.0
    for _ in range(limit):
        action = mind.act(rng.random)
        joint = drawn_act(scope, particle, action, rng)
        outcome = steps.step(particle.place, joint)
        total += outcome.paid
        if outcome.done:
            break
        particle = moved(scope, particle, joint, outcome)
        seen = outcome.seen[ego]
        mind = mind.after.get((action, seen)) or policy.after(mind, action, seen, steps.legal(outcome.place, ego))
    return total
