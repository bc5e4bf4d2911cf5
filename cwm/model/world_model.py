"""A synthesised model behind `games.api.Game`, in the parent: each question crosses to a worker.

For the contract test, the export and matches; a search runs inside the worker instead (`Worker.payload`).
"""

import json
import random
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from cwm.model.bundle import ModelBundle
from cwm.model.program_worker import ProgramWorker
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import Outcome, Reply
from cwm.sandbox.wire.blame import blame
from games.api import (
    CHANCE,
    TERMINAL,
    Action,
    GameError,
    GameInfo,
    IllegalActionError,
    Json,
    ObsActionHistory,
    Observation,
    State,
)


class WorldModelError(GameError):
    """The model's program failed, hit a limit, or answered with something that the protocol does not know.

    Attributes:
        reply: what the worker said.
    """

    def __init__(self, message: str, reply: Reply) -> None:
        super().__init__(message)
        self.reply = reply


class WorldModel:
    """A program as a `Game`; `resample_history`, `resample_state`, `value`, `policy` exist only where they are defined.

    A context manager. A worker that died is replaced at the next call.
    """

    def __init__(self, bundle: ModelBundle, sandbox: Sandbox, rules: str | None = None) -> None:
        """Args:
        bundle: the model.
        sandbox: where it runs.
        rules: the rules text that it was written from, None if nobody kept it.

        Raises:
            SandboxUnavailableError: no worker can be started.
            WorldModelError: the program does not load.
        """
        if bundle.joint:
            message = (
                f"The program of {bundle.info['id']} has a joint step, and no players who take turns: play it as "
                "cwm:PLACE, or plan on it by an agent cwm:PLACE."
            )
            raise WorldModelError(message, Reply(Outcome.BAD_VALUE))
        self.info: GameInfo = bundle.game_info
        self.level = sandbox.level
        self.rules = rules
        self._is_closed = bundle.deck == "closed"
        self._program = ProgramWorker(bundle, sandbox)
        self._initial_state = json.dumps(bundle.initial_state)
        try:
            functions = value_of(self._program.started().loaded, "loading")
        except WorldModelError:
            self.close()
            raise
        if "resample_history" in functions:
            self.resample_history = self._resample_history
        if "resample_state" in functions:
            self.resample_state = self._resample_state
        if "value_function" in functions:
            self.value = self._value
        if "policy_prior" in functions:
            self.policy = self._policy

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the worker."""
        self._program.close()

    def initial_state(self) -> State:
        """Returns a fresh copy of the initial state."""
        return json.loads(self._initial_state)

    def current_player(self, state: State) -> int:
        """Returns the player to move."""
        player = self._ask("get_current_player", state)
        if isinstance(player, bool) or not isinstance(player, int):
            raise self._malformed("get_current_player", "an int", player)
        if player not in (CHANCE, TERMINAL) and not 0 <= player < self.info.num_players:
            raise self._malformed("get_current_player", f"a player below {self.info.num_players}, -1 or -4", player)
        return player

    def legal_actions(self, state: State) -> list[Action]:
        """Returns the legal actions."""
        actions = self._list("get_legal_actions", state)
        if not all(isinstance(action, str) for action in actions):
            raise self._malformed("get_legal_actions", "strings", actions)
        if not actions and self.current_player(state) >= 0:
            raise self._malformed("get_legal_actions", "an action of the player to move", actions)
        return actions

    def chance_outcomes(self, state: State) -> list[tuple[Action, float]]:
        """Returns (action, probability) pairs, in the order of `legal_actions` as far as the two agree."""
        pairs = self._list("get_chance_outcomes", state)
        if not all(isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs):
            raise self._malformed("get_chance_outcomes", "(action, probability) pairs", pairs)
        if not pairs and self.current_player(state) != CHANCE:
            return []
        if not all(_is_number(pair[1]) and pair[1] >= 0 for pair in pairs) or not any(pair[1] for pair in pairs):
            raise self._malformed("get_chance_outcomes", "probabilities, some of them above 0", pairs)
        place = {action: number for number, action in enumerate(self.legal_actions(state))}
        outcomes = [(action, probability) for action, probability in pairs]
        return sorted(outcomes, key=lambda outcome: place.get(outcome[0], len(place)))

    def apply_action(self, state: State, action: Action) -> State:
        """Returns the next state.

        Raises:
            IllegalActionError: the model does not list `action` as legal.
            WorldModelError: the program failed.
        """
        legal = self.legal_actions(state)
        if action not in legal:
            raise IllegalActionError(f"{action!r} is not legal in the model of {self.info.id}; legal are {legal}.")
        return self._ask("apply_action", state, action)

    def rewards(self, state: State) -> list[float]:
        """Returns what the last action paid, as floats."""
        rewards = self._list("get_rewards", state)
        if len(rewards) != self.info.num_players or not all(map(_is_number, rewards)):
            raise self._malformed("get_rewards", f"{self.info.num_players} finite numbers", rewards)
        return [float(reward) for reward in rewards]

    def observations(self, state: State) -> list[Observation]:
        """Returns what each player sees."""
        seen = self._list("get_observations", state)
        if len(seen) != self.info.num_players:
            raise self._malformed("get_observations", f"{self.info.num_players} observations", seen)
        return seen

    def _resample_history(self, history: ObsActionHistory, player: int, rng: random.Random) -> list[Action]:
        pairs = [list(pair) for pair in history]
        told = [False] if self._is_closed else []
        reply = self._program.started().call("resample_history", [pairs, player, *told], seed=rng.getrandbits(63))
        actions = value_of(reply, "resample_history")
        if not isinstance(actions, list):
            raise self._malformed("resample_history", "a list", actions)
        return actions

    def _resample_state(self, history: ObsActionHistory, player: int, rng: random.Random) -> State:
        pairs = [list(pair) for pair in history]
        reply = self._program.started().call("resample_state", [pairs, player], seed=rng.getrandbits(63))
        return value_of(reply, "resample_state")

    def _value(self, state: State, player: int) -> float:
        value = self._ask("value_function", state, player)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._malformed("value_function", "a float", value)
        return float(value)

    def _policy(self, state: State, actions: Sequence[Action], player: int) -> list[float]:
        prior = self._ask("policy_prior", state, list(actions), player)
        well_formed = isinstance(prior, list) and len(prior) == len(actions)
        if not well_formed or not all(type(probability) in (int, float) for probability in prior):
            raise self._malformed("policy_prior", f"{len(actions)} numbers", prior)
        return [float(probability) for probability in prior]

    def _list(self, function: str, state: State) -> list[Any]:
        answer = self._ask(function, state)
        if not isinstance(answer, list):
            raise self._malformed(function, "a list", answer)
        return answer

    def _ask(self, function: str, *args: Json) -> Any:
        """Returns the answer, from the cache if the same was asked before; the caller owns what it gets."""
        key = json.dumps([function, args], sort_keys=True)
        worker = self._program
        return worker.answer(key, lambda: value_of(worker.started().call(function, list(args), seed=0), function))

    def _malformed(self, function: str, expected: str, got: Json) -> WorldModelError:
        message = f"{function} of the model of {self.info.id} must return {expected}, got {got!r}"
        return WorldModelError(message, Reply(Outcome.BAD_VALUE, got))


def _is_number(value: Json) -> bool:
    """Returns whether a value is a number that a float can hold."""
    return isinstance(value, int | float) and -sys.float_info.max <= value <= sys.float_info.max


def value_of(reply: Reply, what: str) -> Any:
    """Returns what a worker answered.

    Raises:
        WorldModelError: it did not.
    """
    fault = blame(reply)
    if fault is None:
        return reply.value
    raise WorldModelError(f"{what} failed ({fault.outcome.value}): {fault.sentence}", reply)
