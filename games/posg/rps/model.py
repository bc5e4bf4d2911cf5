"""Rock, paper, scissors, repeated, as a `PosgModel`; `RULES.md` is the specification.

Rules: POSGGym's RockPaperScissors.
"""

import random
from collections.abc import Sequence
from typing import Final

from games.posg.api import Choose, Joint, Moved, PosgInfo

ACTIONS: Final = ("rock", "paper", "scissors")
START: Final = "nothing"
STATE: Final = "play"

_OVER: Final = (False, False)
_PAID: Final = {
    (first, second): (0.0, 0.0) if first == second else (1.0, -1.0) if (one - two) % 3 == 1 else (-1.0, 1.0)
    for one, first in enumerate(ACTIONS)
    for two, second in enumerate(ACTIONS)
}


class RockPaperScissors:
    """State: always `play`. Observation: what the other did last, at the start `nothing`."""

    def __init__(self, steps: int = 20) -> None:
        """Makes the game.

        Args:
            steps: after which it is broken off.
        """
        self.info = PosgInfo(
            id="rps-repeated",
            agent_names=("agent_0", "agent_1"),
            utility="zero_sum",
            actions=(ACTIONS, ACTIONS),
            min_step=-1.0,
            max_step=1.0,
            min_utility=-float(steps),
            max_utility=float(steps),
            step_limit=steps,
            symmetric=True,
        )

    def initial_state(self, choose: Choose) -> str:
        return STATE

    def active(self, state: str) -> Sequence[int]:
        return (0, 1)

    def legal_actions(self, state: str, agent: int) -> Sequence[str]:
        return ACTIONS

    def move(self, state: str, actions: Joint, choose: Choose) -> Moved:
        first, second = actions
        return state, _PAID[first, second], _OVER

    def observe(self, state: str, actions: Joint | None, choose: Choose) -> Sequence[str]:
        return (START, START) if actions is None else (actions[1], actions[0])

    def sample_step(self, state: str, actions: Joint, rng: random.Random) -> Moved:
        """As `move`: nothing is drawn."""
        first, second = actions
        return state, _PAID[first, second], _OVER

    def sample_observations(self, state: str, actions: Joint | None, rng: random.Random) -> Sequence[str]:
        """As `observe`: nothing is drawn."""
        return (START, START) if actions is None else (actions[1], actions[0])
