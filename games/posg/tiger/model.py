"""The tiger problem of two agents as a `PosgModel`; `RULES.md` is the specification.

Rules: Gmytrasiewicz and Doshi, "A framework for sequential planning in multi-agent settings" (2005), with the numbers
of POSGGym's documentation.
"""

import random
from collections.abc import Sequence
from typing import Final, TypeAlias

from games.api import Json
from games.posg.api import Choose, Joint, Moved, PosgInfo

Heard: TypeAlias = tuple[str | None, str | None]
"""Growl and creak; both None at the start."""

SIDES: Final = ("left", "right")
ACTIONS: Final = ("open left", "open right", "listen")
CREAKS: Final = ("left", "right", "silence")
NOTHING: Final[Heard] = (None, None)
GOLD: Final = 10.0
TIGER: Final = -100.0
LISTENING: Final = -1.0

_OVER: Final = (False, False)
_SIDE: Final = (("left", 0.5), ("right", 0.5))
_GROWL: Final = (("left", 0.5), ("right", 0.5))
_CREAK: Final = tuple((creak, 1.0 / 3.0) for creak in CREAKS)
_MADE: Final = {"open left": "left", "open right": "right", "listen": "silence"}
"""What an action sounds like to the other agent."""


class Tiger:
    """State: the side of the tiger, `left` or `right`. An observation is a pair of growl and creak."""

    def __init__(self, steps: int = 20, growl: float = 0.85, creak: float = 0.9) -> None:
        """Makes the game.

        Args:
            steps: after which it is broken off.
            growl: probability that a listener hears the tiger on its side.
            creak: probability that a listener hears rightly what the other did.
        """
        self.info = PosgInfo(
            id="tiger-2a",
            agent_names=("agent_0", "agent_1"),
            utility="general_sum",
            actions=(ACTIONS, ACTIONS),
            min_step=TIGER,
            max_step=GOLD,
            min_utility=TIGER * steps,
            max_utility=GOLD * steps,
            step_limit=steps,
            symmetric=True,
        )
        self._growls = {
            side: tuple((heard, growl if heard == side else 1.0 - growl) for heard in SIDES) for side in SIDES
        }
        self._creaks = {
            made: tuple((heard, creak if heard == made else (1.0 - creak) / 2.0) for heard in CREAKS) for made in CREAKS
        }
        self._growl, self._creak = growl, creak

    def initial_state(self, choose: Choose) -> str:
        return str(choose("tiger", _SIDE))

    def active(self, state: str) -> Sequence[int]:
        return (0, 1)

    def legal_actions(self, state: str, agent: int) -> Sequence[str]:
        return ACTIONS

    def move(self, state: str, actions: Joint, choose: Choose) -> Moved:
        first, second = actions
        rewards = (_paid(state, first), _paid(state, second))
        if first == second == "listen":
            return state, rewards, _OVER
        return str(choose("tiger", _SIDE)), rewards, _OVER

    def observe(self, state: str, actions: Joint | None, choose: Choose) -> Sequence[Heard]:
        if actions is None:
            return (NOTHING, NOTHING)
        return (self._hear(state, actions, 0, choose), self._hear(state, actions, 1, choose))

    def _hear(self, state: str, actions: Joint, agent: int, choose: Choose) -> Heard:
        listens = actions[agent] == "listen"
        growl = choose(f"growl of agent {agent}", self._growls[state] if listens else _GROWL)
        creak = choose(f"creak of agent {agent}", self._creaks[_MADE[actions[1 - agent]]] if listens else _CREAK)
        return growl, creak

    def sample_step(self, state: str, actions: Joint, rng: random.Random) -> Moved:
        """As `move`, faster."""
        first, second = actions
        rewards = (_paid(state, first), _paid(state, second))
        if first == second == "listen":
            return state, rewards, _OVER
        return ("left" if rng.random() < 0.5 else "right"), rewards, _OVER

    def sample_observations(self, state: str, actions: Joint | None, rng: random.Random) -> Sequence[Heard]:
        """As `observe`, faster."""
        if actions is None:
            return (NOTHING, NOTHING)
        return (
            self._sample_heard(state, actions[0], actions[1], rng),
            self._sample_heard(state, actions[1], actions[0], rng),
        )

    def _sample_heard(self, state: str, own: str, other: str, rng: random.Random) -> Heard:
        uniform = rng.random
        if own != "listen":
            return ("left" if uniform() < 0.5 else "right"), CREAKS[int(uniform() * 3.0)]
        right = uniform() < self._growl
        growl = state if right else ("right" if state == "left" else "left")
        left = uniform() - self._creak
        made = _MADE[other]
        if left < 0.0:
            return growl, made
        wrong = [creak for creak in CREAKS if creak != made]
        return growl, wrong[left >= (1.0 - self._creak) / 2.0]

    def state_to_json(self, state: str) -> Json:
        return state

    def state_from_json(self, described: Json) -> str:
        return str(described)

    def observation_to_json(self, agent: int, observation: Heard) -> Json:
        return {"growl": observation[0], "creak": observation[1]}

    def render(self, state: str, agent: int | None = None) -> str:
        return "two doors, left and right" + (f"; the tiger is behind the {state} one" if agent is None else "")


def _paid(state: str, action: str) -> float:
    if action == "listen":
        return LISTENING
    return TIGER if action == f"open {state}" else GOLD
