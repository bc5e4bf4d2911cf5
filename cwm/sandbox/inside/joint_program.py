"""A loaded program with a joint step as a `PosgModel`, inside its worker, and what stands beside it; games that its
inference samples are played again. Standard library and the games' protocols."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from cwm.sandbox.wire.plain_json import is_finite
from games.api import Action, Json, State
from games.posg.api import (
    Choose,
    Joint,
    LivedHistory,
    Moved,
    Observation,
    PosgError,
    PosgHistory,
    PosgInfo,
    PosgModel,
    key_of,
)

NAMES = ("initial_state", "active", "legal_actions", "move", "observe")
"""Functions that such a program defines, which are called as the methods of the protocol are."""
BESIDE: Final = {"policy_prior": "policy", "value_function": "state_value", "resample_history": "resample"}
"""Functions beside such a program, each with the method that it stands behind."""
TRIES: Final = 20
"""Calls of `resample_history` for one sample, at most."""
MOST_ENTRIES: Final = 10_000
"""Draws that one entry of a sample may name."""


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


class Contradiction(Exception):
    """A sampled game is none that the agent cannot tell from the real one; the message says why."""


def replayed(
    posg: PosgModel, sample: Any, history: PosgHistory, agent: int, rng: random.Random
) -> tuple[State, list[PosgHistory | None]]:
    """Plays a sampled game on the program: what it leaves open is drawn by chance.

    Args:
        posg: the program.
        sample: what `resample_history` returned: an entry for the start and for every step, (actions, draws) each.
        history: of the agent.
        agent: whose.
        rng: draws what no entry names.

    Returns:
        The present state, and the private histories of the other agents, None in the place of the agent's own.

    Raises:
        Contradiction: the sample has another form, or the agent would have been told or have done something else.
    """
    if type(sample) not in (list, tuple) or len(sample) != len(history):
        got = f"{len(sample)} entries" if type(sample) in (list, tuple) else f"a {type(sample).__name__}"
        raise Contradiction(f"expected {len(history)} entries, one for each arrival of the history, got {got}")
    agents = posg.info.num_agents
    told = [LivedHistory() for _ in range(agents)]
    state: State = None
    own: Action | None = None
    for number, (entry, (shown, done)) in enumerate(zip(sample, history, strict=True)):
        actions, draws = _parts(entry, number)
        choose = _choosing(draws, number, rng)
        if number == 0:
            state, joint = posg.initial_state(choose), None
        else:
            joint = _joint(posg, state, actions, number, agent, own, told)
            state = posg.move(state, joint, choose)[0]
        seen = posg.observe(state, joint, choose)
        if not _same(seen[agent], shown):
            raise Contradiction(
                f"at {_where(number)} agent {agent} is told {short(seen[agent])}, and was told {short(shown)}"
            )
        for other, one in enumerate(seen):
            if one is not None:
                told[other].append((one, None))
                told[other].legal.append(())
        own = done
    return state, [None if other == agent else told[other] for other in range(agents)]


def _parts(entry: Any, number: int) -> tuple[Any, Mapping[str, Json]]:
    if type(entry) not in (list, tuple) or len(entry) != 2:
        raise Contradiction(f"the entry of {_where(number)} is not a pair of actions and draws: {short(entry)}")
    actions, draws = entry
    if type(draws) is not dict or len(draws) > MOST_ENTRIES:
        raise Contradiction(f"the draws of {_where(number)} are no dictionary by label: {short(draws)}")
    if number == 0 and actions is not None:
        raise Contradiction(f"nobody acts at the start, and its entry has the actions {short(actions)}")
    return actions, draws


def _joint(
    posg: PosgModel,
    state: State,
    actions: Any,
    number: int,
    agent: int,
    own: Action | None,
    told: list[LivedHistory],
) -> tuple[Action, ...]:
    """Returns the actions of a step, checked, and notes them in the histories."""
    info = posg.info
    if type(actions) not in (list, tuple) or len(actions) != info.num_agents:
        raise Contradiction(f"the actions of {_where(number)} are not one for each agent: {short(actions)}")
    active = posg.active(state)
    if not active:
        raise Contradiction(f"the game is over before {_where(number)}")
    joint = list(actions)
    for one in range(info.num_agents):
        if one not in active:
            joint[one] = info.actions[one][0]
            continue
        legal = posg.legal_actions(state, one)
        if joint[one] not in legal:
            raise Contradiction(f"{short(joint[one])} is not legal for agent {one} in {_where(number)}")
        if one == agent and joint[one] != own:
            raise Contradiction(f"agent {agent} did {own!r} in {_where(number)}, and not {joint[one]!r}")
        if told[one]:
            told[one][-1] = (told[one][-1][0], joint[one])
            told[one].legal[-1] = tuple(legal)
    return tuple(joint)


def _choosing(draws: Mapping[str, Json], number: int, rng: random.Random) -> Choose:
    uniform = rng.random

    def choose(label: str, outcomes: Sequence[tuple[Json, float]]) -> Json:
        if label in draws:
            wanted = draws[label]
            for outcome, probability in outcomes:
                if probability > 0.0 and _same(outcome, wanted):
                    return outcome
            raise Contradiction(f"{label!r} cannot be drawn as {short(wanted)} in {_where(number)}")
        left = uniform()
        for outcome, probability in outcomes:
            left -= probability
            if left < 0.0:
                return outcome
        return outcomes[-1][0]

    return choose


def sampled(
    posg: PosgModel,
    function: Callable[..., Any],
    history: PosgHistory,
    agent: int,
    rng: random.Random,
    tries: int,
) -> tuple[tuple[State, list[PosgHistory | None]] | None, str]:
    """Returns the first sample that fits, None if none of some tries does; and what was wrong with the last one.

    Args:
        posg: the program.
        function: `resample_history`.
        history: of the agent.
        agent: whose.
        rng: see `replayed`.
        tries: calls, at most.
    """
    why = ""
    for _ in range(tries):
        try:
            return replayed(posg, function(list(history), agent), history, agent, rng), ""
        except MemoryError:
            raise
        except Contradiction as problem:
            why = str(problem)
        except Exception as error:
            # Whatever the code raised: it has no sample of this history.
            why = f"it raised {type(error).__name__}: {str(error)[:200]}"
    return None, why


def _same(one: Json, other: Json) -> bool:
    return bool(one == other) or key_of(one) == key_of(other)


def _where(number: int) -> str:
    return f"step {number}" if number else "the start"


def short(value: Any, most: int = 200) -> str:
    """Returns an answer as text of so many characters at most; what cannot be shown, by its type."""
    try:
        text = repr(value)
    except Exception:
        # A whole number may have too many digits, and a class of the program's may have a `repr` that raises.
        text = f"a {type(value).__name__}"
    return text if len(text) <= most else f"{text[:most]} …"
