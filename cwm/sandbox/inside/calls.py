"""Calls of a program's functions by the test runner. Loaded into workers: standard library alone."""

import contextlib
from json import loads
from typing import Any

from cwm.sandbox.inside.comparisons import Mismatch
from cwm.sandbox.inside.program import ProgramGame
from cwm.sandbox.wire.failures import describe
from cwm.sandbox.wire.plain_json import NotJsonError, first_difference, normalise

FIELDS = {
    "get_current_player": "current_player",
    "get_player_name": "player_name",
    "get_rewards": "rewards",
    "get_observations": "observations",
    "get_legal_actions": "legal_actions",
    "get_chance_outcomes": "chance_outcomes",
    "apply_action": "next_state",
    "resample_history": "resample_history",
    "resample_state": "resample_state",
    "value_function": "value",
    "policy_prior": "policy",
    "initial_state": "start",
    "active": "active",
    "legal_actions": "legal_actions",
    "move": "move",
    "observe": "observations",
}
"""The field of a test result that each function of a program answers for."""
MUTATED = "mutated_input"


class ProgramCalls:
    """Calls functions of one program: every answer is plain JSON, every failure a `Mismatch`."""

    def __init__(self, game: ProgramGame, sources: dict[str, list[str]]) -> None:
        """Args:
        game: the program.
        sources: lines of its files, for tracebacks.
        """
        self._game = game
        self._sources = sources

    def initial_state(self) -> Any:
        """Returns a fresh copy of the initial state."""
        return self._game.initial_state()

    def call(self, name: str, *args: Any) -> Any:
        """Returns the function's answer as plain JSON.

        Raises:
            Mismatch: the function is missing, raised, or returned something that is not JSON.
            MemoryError: the program ran out of memory.
        """
        return self.plain(name, self.raw(name, *args))

    def plain(self, name: str, answer: Any) -> Any:
        """Returns an answer of the function `name` as plain JSON.

        Raises:
            Mismatch: it is no JSON.
        """
        try:
            return normalise(answer)
        except NotJsonError as error:
            raise Mismatch(FIELDS[name], f"{name}: {error}") from error

    def raw(self, name: str, *args: Any) -> Any:
        """Returns the function's answer as it is: for long replays, whose single steps other tests check.

        Raises:
            Mismatch: the function is missing or raised.
            MemoryError: the program ran out of memory.
        """
        field = FIELDS[name]
        function = self._game.functions.get(name)
        if function is None:
            error = {"type": "MissingFunctionError"}
            raise Mismatch(field, f"the program does not define {name}", error=error)
        try:
            return function(*args)
        except MemoryError:
            raise
        except BaseException as error:
            failure = describe(error, self._sources)
            message = f"{name} raised {failure['type']}: {failure['message']}"
            raise Mismatch(field, message, error=failure) from error

    def disturb(self) -> None:
        """Calls the program on another state, so that an answer which hangs on the call before comes out wrong."""
        # What fails here is no concern of the present test: the tests of these states find it.
        with contextlib.suppress(Mismatch):
            state = self.initial_state()
            actions = self.call("get_legal_actions", state)
            self.call("apply_action", state, actions[-1] if isinstance(actions, list) and actions else "")

    def on_state(self, name: str, text: str, *args: Any) -> Any:
        """Calls a function on a private copy of a state and checks that the copy was left alone.

        Args:
            name: of the function.
            text: the state as JSON text.
            args: further arguments.

        Raises:
            Mismatch: see `call`; or the input was changed, with the field `mutated_input`.
            MemoryError: the program ran out of memory.
        """
        state = loads(text)
        answer = self.call(name, state, *args)
        self.check_unchanged(name, text, state)
        return answer

    def check_unchanged(self, name: str, text: str, state: Any) -> None:
        """Checks that `state` still is what its JSON text says.

        Raises:
            Mismatch: it is not.
        """
        before = loads(text)
        if state == before:
            return
        difference = first_difference(before, _readable(state))
        path = difference.path if difference else ""
        what = f"state{path}: {difference.message}" if difference else "the state"
        raise Mismatch(MUTATED, f"{name} changed its input: {what}", path, before, _readable(state))


def _readable(state: Any) -> Any:
    try:
        return normalise(state)
    except NotJsonError as error:
        return f"({error})"
