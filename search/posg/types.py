"""What the other agents may be: a type names one policy for each of them, and has a probability before the game."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Final

from games.posg.api import PosgInfo
from search.api import PlannerConfigError
from search.posg.others import Minds, OtherPolicy, Softened

MOST_TYPES: Final = 256
"""Types of all others together."""
UNKNOWN: Final = "unknown"
"""The type of those who have none of the policies that are named."""
SOFTENED: Final = "softened:"
"""Before the name of a policy: one that acts at random now and then."""


class Types:
    """The types of the other agents.

    Attributes:
        others: the other agents, ascending.
        names: of the types: policies of the others, joined by `/`; none: the others act at random.
        minds: by type, the minds of each of the others.
        prior: probability of each type before the game.
    """

    def __init__(
        self, info: PosgInfo, ego: int, policies: Mapping[str, Sequence[OtherPolicy]], shares: Sequence[float] = ()
    ) -> None:
        """Makes types of all combinations of policies.

        Args:
            info: of the game.
            ego: who plans.
            policies: by name, the policy of each agent (that of the ego is not read); agents choose independently.
            shares: probability of each policy; () for equal ones.

        Raises:
            PlannerConfigError: there are too many combinations, or the shares are no probabilities.
        """
        self.others = tuple(agent for agent in range(info.num_agents) if agent != ego)
        if shares and (len(shares) != len(policies) or min(shares) < 0.0 or abs(math.fsum(shares) - 1.0) > 1e-9):
            raise PlannerConfigError(f"the shares of the types are {list(shares)}, expected one each, summing to 1.")
        if len(policies) ** len(self.others) > MOST_TYPES:
            raise PlannerConfigError(
                f"{len(policies)} types for each of {len(self.others)} agents are more than {MOST_TYPES} combinations: "
                "name fewer types."
            )
        given = shares or [1.0 / len(policies) for _ in policies]
        made = {
            (name, agent): Minds(name, by_agent[agent], agent)
            for name, by_agent in policies.items()
            for agent in self.others
        }
        combinations = list(itertools.product(zip(policies, given, strict=True), repeat=len(self.others)))
        if not policies:
            combinations = []
        self.names = ["/".join(name for name, _ in combination) for combination in combinations]
        self.minds = [
            tuple(made[name, agent] for (name, _), agent in zip(combination, self.others, strict=True))
            for combination in combinations
        ]
        self.prior = [math.prod(share for _, share in combination) for combination in combinations]

    def forget(self) -> None:
        """Lets go of minds that are not in use, if there are many."""
        for minds in itertools.chain.from_iterable(self.minds):
            minds.forget()


def named_policy(policies: Mapping[str, Sequence[OtherPolicy]], name: str, game: str) -> Sequence[OtherPolicy]:
    """Returns the policy of each agent that a name stands for.

    Args:
        policies: by name.
        name: one of these, or `softened:` before one.
        game: its id.

    Raises:
        PlannerConfigError: there is none.
    """
    plain = name.removeprefix(SOFTENED)
    if plain not in policies:
        known = ", ".join(policies) or "none"
        raise PlannerConfigError(f"{game} has no policy {plain!r}; those that types may name: {known}.")
    return policies[name] if plain == name else [Softened(policy) for policy in policies[plain]]
