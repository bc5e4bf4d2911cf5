"""How likely a sensible player is to choose each action: the game's policy prior, never trusted, or all alike."""

import math
import random
from collections.abc import Callable, Sequence
from typing import TypeAlias

from games.api import Action, EstimatesPolicy, Game, State
from search.api import ActionPrior, PlannerConfig, PlannerConfigError
from search.errors import BrokenModelError, ErrorCount

Policy: TypeAlias = Callable[[State, Sequence[Action], int], list[float]]


def uniform(state: State, actions: Sequence[Action], player: int) -> list[float]:
    """Returns the same probability for every action."""
    return [1.0 / len(actions)] * len(actions)


class PolicyPrior:
    """The game's policy prior. Where it fails, the failure is counted and all actions are alike."""

    def __init__(self, game: EstimatesPolicy, errors: ErrorCount) -> None:
        self._policy: Policy = game.policy
        self._errors = errors

    def __call__(self, state: State, actions: Sequence[Action], player: int) -> list[float]:
        """Returns the probabilities, in the order of `actions`, summing to 1."""
        try:
            # A copy: a policy that sorts its list must not sort the search's.
            answer = self._policy(state, list(actions), player)
            total = math.fsum(answer)
            # A number that is none makes the sum one.
            if len(answer) == len(actions) and min(answer) >= 0.0 and 0.0 < total < math.inf:
                return [share / total for share in answer]
            raise BrokenModelError(
                f"the policy prior returned {_shown(answer)} for {len(actions)} actions, expected as many probabilities"
            )
        except MemoryError:
            raise
        except Exception as error:
            self._errors.add(error)
            return uniform(state, actions, player)


def policy_of(game: Game, errors: ErrorCount) -> PolicyPrior:
    """Returns the game's policy prior.

    Raises:
        PlannerConfigError: it has none.
    """
    if not isinstance(game, EstimatesPolicy):
        raise PlannerConfigError(f"a policy prior is needed, and {game.info.id} has none.")
    return PolicyPrior(game, errors)


def make(game: Game, config: PlannerConfig, errors: ErrorCount) -> ActionPrior:
    """Returns the prior that PUCT is to use.

    Args:
        game: the game that is searched.
        config: its `prior` counts.
        errors: failures of the game's policy are added to it.

    Raises:
        PlannerConfigError: the game has no policy prior and one is asked for.
    """
    return policy_of(game, errors) if config.prior == "policy" else uniform


def noisy(chances: Sequence[float], share: float, concentration: float, rng: random.Random) -> list[float]:
    """Returns `chances` mixed with a draw from a symmetric Dirichlet distribution.

    Args:
        chances: probabilities.
        share: of the noise.
        concentration: sum of the distribution's parameters.
        rng: draws the noise.
    """
    draws = [rng.gammavariate(concentration / len(chances), 1.0) for _ in chances]
    # Where the parameters are tiny all draws may be 0.
    total = math.fsum(draws) or 1.0
    return [(1.0 - share) * chance + share * draw / total for chance, draw in zip(chances, draws, strict=True)]


def _shown(answer: Sequence[float]) -> str:
    text = repr(answer)
    return text if len(text) <= 60 else f"{text[:60]}…"
