"""A loaded program with a joint step as a `PosgModel`, inside its worker. Standard library and the games' protocols."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from cwm.sandbox.inside.joint_beside import sampled, short
from cwm.sandbox.wire.plain_json import is_finite
from games.api import Action, State
from games.posg.api import Choose, Joint, Moved, Observation, PosgError, PosgHistory, PosgInfo

NAMES = ("initial_state", "active", "legal_actions", "move", "observe")
"""Functions that such a program defines, which are called as the methods of the protocol are."""
BESIDE: Final = {"policy_prior": "policy", "value_function": "state_value", "resample_history": "resample"}
"""Functions beside such a program, each with the method that it stands behind."""
TRIES: Final = 20
"""Calls of `resample_history` for one sample, at most."""


class MissingFunctionError(AttributeError):
    """The program does not define a function that is needed."""


class ProgramPosg:
    """A program behind the `PosgModel` protocol; states and observations are JSON.

    `policy`, `state_value` and `resample` exist only where a function beside the program stands behind them.

    Attributes:
        info: what the parent says about the game.
        beside: the functions beside it, by name.
    """

    initial_state: Callable[[Choose], State]
    active: Callable[[State], Sequence[int]]
    legal_actions: Callable[[State, int], Sequence[Action]]

    def __init__(
        self,
        functions: Mapping[str, Callable[..., Any]],
        info: Mapping[str, Any],
        beside: Mapping[str, Callable[..., Any]] | None = None,
    ) -> None:
        """Args:
        functions: the program's functions, by name.
        info: the fields of `PosgInfo`.
        beside: functions beside it, by name.
        """
        fields = {name: tuple(value) if isinstance(value, list) else value for name, value in info.items()}
        self.info = PosgInfo(**fields | {"actions": tuple(map(tuple, info["actions"]))})
        found = {name: functions.get(name) or missing(name) for name in NAMES}
        self.initial_state = found["initial_state"]
        self.active = found["active"]
        self.legal_actions = found["legal_actions"]
        self._move, self._observe = found["move"], found["observe"]
        self.beside = dict(beside or {})
        for name in self.beside.keys() & BESIDE.keys():
            setattr(self, BESIDE[name], getattr(self, f"_{BESIDE[name]}"))

    def move(self, state: State, actions: Joint, choose: Choose) -> Moved:
        # A list, as the interface says: the program may compare it with one.
        moved: Moved = self._move(state, list(actions), choose)
        return moved

    def observe(self, state: State, actions: Joint | None, choose: Choose) -> Sequence[Observation | None]:
        told: Sequence[Observation | None] = self._observe(state, None if actions is None else list(actions), choose)
        return told

    def _policy(self, history: PosgHistory, legal: Sequence[Action], agent: int) -> Sequence[float]:
        chances: Sequence[float] = self.beside["policy_prior"](list(history), list(legal), agent)
        return chances

    def _state_value(self, state: State, agent: int, steps: int) -> float:
        value = self.beside["value_function"](state, agent, steps)
        if not is_finite(value):
            raise PosgError(f"value_function answers {short(value)}, expected a finite number.")
        return float(value)

    def _resample(
        self, history: PosgHistory, agent: int, rng: random.Random
    ) -> tuple[State, Sequence[PosgHistory | None]]:
        found, why = sampled(self, self.beside["resample_history"], history, agent, rng, TRIES)
        if found is None:
            raise PosgError(f"resample_history gave no game that fits in {TRIES} calls: {why}.")
        return found


def missing(name: str) -> Callable[..., Any]:
    """Returns what stands for a function that a program does not define."""

    def raises(*_: Any) -> Any:
        raise MissingFunctionError(f"the program does not define {name}")

    return raises


class CheckedPosg:
    """A program with a joint step whose answers are checked for their types, as `CheckedGame` does for others."""

    def __init__(self, program: ProgramPosg, violated: Callable[[str, Any, str], Exception]) -> None:
        """Args:
        program: the program.
        violated: is told the function, its answer and what was expected; returns what is raised.
        """
        self.info = program.info
        self._program = program
        self._violated = violated
        # Planners look at every answer of these themselves.
        for name in BESIDE.values():
            if hasattr(program, name):
                setattr(self, name, getattr(program, name))

    def initial_state(self, choose: Choose) -> State:
        return self._program.initial_state(choose)

    def active(self, state: State) -> Sequence[int]:
        answer = self._program.active(state)
        agents = range(self.info.num_agents)
        if not isinstance(answer, list | tuple) or any(type(one) is not int or one not in agents for one in answer):
            raise self._violated("active", answer, f"a list of agents from 0 to {len(agents) - 1}")
        return answer

    def legal_actions(self, state: State, agent: int) -> Sequence[Action]:
        answer = self._program.legal_actions(state, agent)
        if not isinstance(answer, list | tuple) or not all(isinstance(action, str) for action in answer):
            raise self._violated("legal_actions", answer, "a list of strings")
        return answer

    def move(self, state: State, actions: Joint, choose: Choose) -> Moved:
        answer: Any = self._program.move(state, actions, choose)
        agents = self.info.num_agents
        if not isinstance(answer, list | tuple) or len(answer) != 3:
            raise self._violated("move", answer, "a state, the rewards, and for whom the game is over")
        for part, what in ((answer[1], "rewards"), (answer[2], "for whom the game is over")):
            if not isinstance(part, list | tuple) or len(part) != agents:
                raise self._violated("move", part, f"{what}: a list of {agents}")
        if not all(map(is_finite, answer[1])):
            raise self._violated("move", answer[1], f"rewards: {agents} finite numbers")
        return answer[0], answer[1], answer[2]

    def observe(self, state: State, actions: Joint | None, choose: Choose) -> Sequence[Observation | None]:
        answer = self._program.observe(state, actions, choose)
        if not isinstance(answer, list | tuple) or len(answer) != self.info.num_agents:
            raise self._violated("observe", answer, f"a list of {self.info.num_agents} observations")
        return answer
