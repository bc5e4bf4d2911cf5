"""The multi-access broadcast channel as a `PosgModel`; `RULES.md` is the specification.

Rules: Hansen, Bernstein, Zilberstein, "Dynamic programming for partially observable stochastic games" (2004), as
POSGGym's documentation tells them; with `variant="posggym"` as its code has them: a collision empties the buffers.
"""

import random
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias, get_args

from games.api import Json
from games.posg.api import Choose, Joint, Moved, PosgError, PosgInfo

Buffers: TypeAlias = tuple[int, int]
"""By node: 1 full, 0 empty."""
Variant: TypeAlias = Literal["documented", "posggym"]

ACTIONS: Final = ("send", "wait")
CLEAR: Final = "clear"
COLLISION: Final = "collision"

_OVER: Final = (False, False)


class BroadcastChannel:
    """State: the buffers, a pair of 1 (full) and 0 (empty). Observation: `collision` or `clear`."""

    def __init__(
        self,
        steps: int = 20,
        fill: tuple[float, float] = (0.9, 0.1),
        sensor: float = 0.9,
        variant: Variant = "documented",
    ) -> None:
        """Makes the game.

        Args:
            steps: after which it is broken off.
            fill: probability by node that an empty buffer fills in a step.
            sensor: probability that a node is told rightly whether both tried to send.
            variant: `documented`: what collided stays in the buffers; `posggym`: it is lost.

        Raises:
            PosgError: there is no such variant.
        """
        if variant not in get_args(Variant):
            raise PosgError(f"mabc has the variants documented and posggym, not {variant!r}.")
        self.info = PosgInfo(
            id="mabc",
            agent_names=("node_0", "node_1"),
            utility="identical",
            actions=(ACTIONS, ACTIONS),
            min_step=0.0,
            max_step=1.0,
            min_utility=0.0,
            max_utility=float(steps),
            step_limit=steps,
        )
        self._keeps = variant == "documented"
        self._fill = fill
        self._sensor = sensor
        self._fills = tuple(((1, chance), (0, 1.0 - chance)) for chance in fill)
        self._sensors = {
            told: ((told, sensor), (CLEAR if told == COLLISION else COLLISION, 1.0 - sensor))
            for told in (CLEAR, COLLISION)
        }

    def initial_state(self, choose: Choose) -> Buffers:
        return (1, 1)

    def active(self, state: Buffers) -> Sequence[int]:
        return (0, 1)

    def legal_actions(self, state: Buffers, agent: int) -> Sequence[str]:
        return ACTIONS

    def move(self, state: Buffers, actions: Joint, choose: Choose) -> Moved:
        paid, kept = self._sent(state, actions)
        first, second = (1 if kept[node] else int(choose(f"fill of node {node}", self._fills[node])) for node in (0, 1))
        return (first, second), (paid, paid), _OVER

    def observe(self, state: Buffers, actions: Joint | None, choose: Choose) -> Sequence[str]:
        if actions is None:
            return (CLEAR, CLEAR)
        truth = self._sensors[COLLISION if actions[0] == actions[1] == "send" else CLEAR]
        return (str(choose("sensor of node 0", truth)), str(choose("sensor of node 1", truth)))

    def sample_step(self, state: Buffers, actions: Joint, rng: random.Random) -> Moved:
        """As `move`, faster."""
        paid, (first, second) = self._sent(state, actions)
        fill = self._fill
        after = (int(first or rng.random() < fill[0]), int(second or rng.random() < fill[1]))
        return after, (paid, paid), _OVER

    def sample_observations(self, state: Buffers, actions: Joint | None, rng: random.Random) -> Sequence[str]:
        """As `observe`, faster."""
        if actions is None:
            return (CLEAR, CLEAR)
        right, wrong = (COLLISION, CLEAR) if actions[0] == actions[1] == "send" else (CLEAR, COLLISION)
        sensor, uniform = self._sensor, rng.random
        return (right if uniform() < sensor else wrong), (right if uniform() < sensor else wrong)

    def _sent(self, state: Buffers, actions: Joint) -> tuple[float, tuple[bool, bool]]:
        """Returns what the step pays, and by node whether its buffer surely is full afterwards."""
        first, second = state[0] == 1, state[1] == 1
        if actions[0] == actions[1] == "send":
            return 0.0, (first and self._keeps, second and self._keeps)
        if actions[0] == "send":
            return float(first), (False, second)
        if actions[1] == "send":
            return float(second), (first, False)
        return 0.0, (first, second)

    def state_to_json(self, state: Buffers) -> Json:
        return list(state)

    def state_from_json(self, described: Json) -> Buffers:
        first, second = described
        return int(first), int(second)

    def observation_to_json(self, agent: int, observation: str) -> Json:
        return observation

    def render(self, state: Buffers, agent: int | None = None) -> str:
        if agent is not None:
            return "one channel, two nodes"
        return ", ".join(f"node {node}: {'full' if held else 'empty'}" for node, held in enumerate(state))
