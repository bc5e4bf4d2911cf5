"""The functions of a program with a joint step, for games in which several agents act at the same time: rendered into
prompts as `cwm.interface.program` is.
"""

from collections.abc import Callable
from typing import Any, Final, Protocol, TypeAlias

Action: TypeAlias = str
State: TypeAlias = Any
Observation: TypeAlias = Any
Choose: TypeAlias = Callable[[str, list[tuple[Any, float]]], Any]

ALIASES: Final = ("Action", "State", "Observation", "Choose")
"""Type names that the signatures use."""


class JointProgram(Protocol):
    """A game of several agents who act at the same time."""

    def initial_state(self, choose: Choose) -> State:
        """Returns a state in which a game starts; what is random about it is drawn by `choose`."""
        ...

    def active(self, state: State) -> list[int]:
        """Returns the numbers of the agents whose actions count in the next step, ascending; [] when the game is over
        for all."""
        ...

    def legal_actions(self, state: State, agent: int) -> list[Action]:
        """Returns what an active agent may do, in the order in which its actions are listed above; [] for an agent that
        is not active. An agent can tell it from what it saw and did."""
        ...

    def move(self, state: State, actions: list[Action], choose: Choose) -> tuple[State, list[float], list[bool]]:
        """Plays one step, in which all active agents act at once. `actions` holds one action for every agent, legal
        ones of those that are active; what stands there for another agent means nothing. What is random is drawn by
        `choose`. Returns the next state; the reward of every agent for this step alone, as floats; and for every agent
        whether the game is over for it now (it stays over). Must not change `state` or share mutable parts that a
        later call changes."""
        ...

    def observe(self, state: State, actions: list[Action] | None, choose: Choose) -> list[Observation | None]:
        """Returns what every agent is told on arrival in `state`: nothing that it cannot know. `actions` are those of
        the step that led here, None at the start of the game. None stands for an agent for whom the game was over
        before that step. Noise of what is seen or heard is drawn by `choose`, with other labels than those of the
        start or the `move` before. Must not change `state`."""
        ...


JOINT_FUNCTIONS: Final = ("initial_state", "active", "legal_actions", "move", "observe")
