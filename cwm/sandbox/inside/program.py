"""A loaded program as a `Game`, inside its worker.

Standard library and the games' protocols alone. The planner calls these functions some hundred thousand times a second,
so they are the program's own function objects, without a layer in between.
"""

import linecache
import random
import sys
from collections.abc import Callable
from json import dumps, loads
from types import CodeType, FunctionType, ModuleType
from typing import Any

from cwm.sandbox.inside.joint_program import ProgramPosg, missing
from cwm.sandbox.wire.failures import INFERENCE_FILE, PRIOR_FILE, PROGRAM_FILE, VALUE_FILE
from games.api import Action, GameInfo, ObsActionHistory, Observation, State

MODULE = "program"
FUNCTIONS = {
    "get_current_player": "current_player",
    "get_legal_actions": "legal_actions",
    "get_chance_outcomes": "chance_outcomes",
    "apply_action": "apply_action",
    "get_rewards": "rewards",
    "get_observations": "observations",
}
"""The program's name of each function and the name that `Game` gives it."""
BESIDE = (
    ("value_function", "value_source", VALUE_FILE),
    ("policy_prior", "prior_source", PRIOR_FILE),
    ("resample_history", "inference_source", INFERENCE_FILE),
)
"""Functions with a source of their own: name, field of `ProgramSource`, name of the file in tracebacks."""

SHOWN = ("Action", "State", "Observation", "History")
"""Names of types that stand in the question for a function beside a joint step, whether its program has them or not."""


class ProgramGame:
    """A program behind the `Game` protocol.

    `resample_history`, `resample_state`, `value` and `policy` exist only where they are defined.

    Attributes:
        info: what the parent says about the game.
        functions: everything callable that the program's module defines, by name.
        posg: the program as a game of simultaneous moves; None for a program whose players take turns.
    """

    current_player: Callable[[State], int]
    legal_actions: Callable[[State], list[Action]]
    chance_outcomes: Callable[[State], list[tuple[Action, float]]]
    apply_action: Callable[[State, Action], State]
    rewards: Callable[[State], list[float]]
    observations: Callable[[State], list[Observation]]

    def __init__(self, functions: dict[str, Callable[..., Any]], initial_state: str, info: GameInfo) -> None:
        """Args:
        functions: the program's functions, by name.
        initial_state: as JSON text, so that no call can change it.
        info: what is fixed about the game.
        """
        self.info = info
        self.functions = functions
        self.posg: ProgramPosg | None = None
        self._initial_state = initial_state
        for name, method in FUNCTIONS.items():
            setattr(self, method, functions.get(name) or missing(name))
        if resample := functions.get("resample_history"):
            self.resample_history = _seeded_by_request(_during_play(resample))
        if resample := functions.get("resample_state"):
            self.resample_state = _seeded_by_request(resample)
        if value := functions.get("value_function"):
            self.value = value
        if policy := functions.get("policy_prior"):
            self.policy = policy

    def initial_state(self) -> State:
        """Returns a fresh copy of the initial state."""
        return loads(self._initial_state)


def _seeded_by_request(
    resample: Callable[[ObsActionHistory, int], Any],
) -> Callable[[ObsActionHistory, int, random.Random], Any]:
    # The worker seeds the module `random`, which the program uses, once a request: seeding it again at each
    # of some thousand calls a second would cost more than most samplers do.
    def sample(history: ObsActionHistory, player: int, rng: random.Random) -> Any:
        return resample(history, player)

    return sample


def _during_play(resample: Callable[..., list[Action]]) -> Callable[[ObsActionHistory, int], list[Action]]:
    """Returns the sampler of a game in progress; one of the closed deck wants to be told that it is in progress."""
    if not isinstance(resample, FunctionType):
        return resample
    if resample.__code__.co_argcount - len(resample.__defaults__ or ()) < 3:
        return resample

    def in_progress(history: ObsActionHistory, player: int) -> list[Action]:
        actions: list[Action] = resample(history, player, False)
        return actions

    return in_progress


def sources_of(program: dict[str, Any]) -> dict[str, list[str]]:
    """Returns the lines of the program's files, by file name."""
    files = {
        PROGRAM_FILE: program["source"],
        VALUE_FILE: program.get("value_source") or "",
        PRIOR_FILE: program.get("prior_source") or "",
        INFERENCE_FILE: program.get("inference_source") or "",
    }
    return {name: text.split("\n") for name, text in files.items()}


class LoadedCode:
    """A compiled program, ready to be run in as many fresh namespaces as wanted."""

    def __init__(self, program: dict[str, Any]) -> None:
        """Args:
        program: `ProgramSource` as a dict.

        Raises:
            SyntaxError: it does not parse.
        """
        self._initial_state = dumps(program["initial_state"], allow_nan=False)
        info = _tuples(program["info"])
        self._joint: dict[str, Any] | None = info.pop("joint", None)
        self._info = GameInfo(**info)
        for name, lines in sources_of(program).items():
            text = "\n".join(lines)
            linecache.cache[name] = (len(text), None, [line + "\n" for line in lines], name)
        self._code: CodeType = compile(program["source"], PROGRAM_FILE, "exec", dont_inherit=True)
        # Each in a namespace of its own: none may replace what another one calls.
        self._beside = [
            (function, compile(program[key], file, "exec", dont_inherit=True))
            for function, key, file in BESIDE
            if program.get(key)
        ]

    def instantiate(self) -> ProgramGame:
        """Runs the program in a fresh module and returns it as a game.

        Raises:
            BaseException: whatever the program raises.
        """
        module = ModuleType(MODULE)
        sys.modules[MODULE] = module
        namespace = vars(module)
        if self._joint is None:
            namespace["INITIAL_STATE"] = loads(self._initial_state)
        exec(self._code, namespace)  # noqa: S102 - this is the sandboxed worker
        functions = _functions(namespace)
        for name, code in self._beside:
            own = dict(namespace)
            own.pop(name, None)
            if self._joint is not None:
                own = dict.fromkeys(SHOWN, object) | own
            exec(code, own)  # noqa: S102 - as above
            functions[name] = _functions(own).get(name) or missing(name)
        game = ProgramGame(functions, self._initial_state, self._info)
        if self._joint is not None:
            game.posg = ProgramPosg(functions, self._joint, {name: functions[name] for name, _ in self._beside})
        return game


def _functions(namespace: dict[str, Any]) -> dict[str, Callable[..., Any]]:
    return {
        name: value
        for name, value in namespace.items()
        if callable(value) and not name.startswith("__") and not isinstance(value, type)
    }


def _tuples(info: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in info.items()}
