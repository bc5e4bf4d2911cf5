"""Finds out whose fault an exception in trusted code was: the same work again, with every answer of the model checked.

A planner trusts its game for speed. Where it fails on an answer of a wrong type, the exception stands in the planner's
code; run again on a `CheckedGame`, the same request names the function and what it returned. Loaded into workers:
standard library alone.
"""

import random
from typing import Any

from cwm.sandbox.inside.joint_program import CheckedPosg
from cwm.sandbox.wire.plain_json import is_finite
from games.api import Action, GameInfo, ObsActionHistory, Observation, State


class ContractError(Exception):
    """A program's function returned what the contract does not allow."""


class CheckedGame:
    """A program's game with every answer checked against the types of `games.api.Game`.

    `resample_history`, `resample_state`, `value` and `policy` exist where the game has them.

    Attributes:
        posg: the program as a game of simultaneous moves, its answers checked too; None if its players take turns.
        violation: the first wrong answer, also where a planner caught the exception and went on; None if there is none.
    """

    def __init__(self, game: Any) -> None:
        """Args:
        game: a `ProgramGame`.
        """
        self.info: GameInfo = game.info
        self.functions = game.functions
        self.violation: ContractError | None = None
        self._game = game
        program = getattr(game, "posg", None)
        self.posg = None if program is None else CheckedPosg(program, self._violated)
        if hasattr(game, "resample_history"):
            self.resample_history = self._resample_history
        if hasattr(game, "resample_state"):
            self.resample_state = self._resample_state
        if hasattr(game, "value"):
            self.value = self._value
        if hasattr(game, "policy"):
            self.policy = self._policy

    def initial_state(self) -> State:
        return self._game.initial_state()

    def current_player(self, state: State) -> int:
        answer = self._game.current_player(state)
        if type(answer) is not int:
            raise self._violated("get_current_player", answer, "a whole number")
        return answer

    def legal_actions(self, state: State) -> list[Action]:
        answer = self._game.legal_actions(state)
        if not isinstance(answer, list | tuple) or not all(isinstance(action, str) for action in answer):
            raise self._violated("get_legal_actions", answer, "a list of strings")
        return list(answer)

    def chance_outcomes(self, state: State) -> list[tuple[Action, float]]:
        answer = self._game.chance_outcomes(state)
        if not isinstance(answer, list | tuple) or not all(_is_outcome(item) for item in answer):
            raise self._violated("get_chance_outcomes", answer, "a list of (action, probability)")
        return list(answer)

    def apply_action(self, state: State, action: Action) -> State:
        answer = self._game.apply_action(state, action)
        if not isinstance(answer, dict):
            raise self._violated("apply_action", answer, "a state (a dictionary)")
        return answer

    def rewards(self, state: State) -> list[float]:
        answer = self._game.rewards(state)
        players = self.info.num_players
        if not isinstance(answer, list | tuple) or len(answer) != players or not all(map(is_finite, answer)):
            raise self._violated("get_rewards", answer, f"a list of {players} numbers")
        return list(answer)

    def observations(self, state: State) -> list[Observation]:
        answer = self._game.observations(state)
        players = self.info.num_players
        if not isinstance(answer, list | tuple) or len(answer) != players:
            raise self._violated("get_observations", answer, f"a list of {players} dictionaries")
        if not all(isinstance(item, dict) for item in answer):
            raise self._violated("get_observations", answer, f"a list of {players} dictionaries")
        return list(answer)

    def _resample_history(self, history: ObsActionHistory, player: int, rng: random.Random) -> list[Action]:
        answer = self._game.resample_history(history, player, rng)
        if not isinstance(answer, list | tuple) or not all(isinstance(action, str) for action in answer):
            raise self._violated("resample_history", answer, "a list of strings")
        return list(answer)

    def _resample_state(self, history: ObsActionHistory, player: int, rng: random.Random) -> State:
        answer = self._game.resample_state(history, player, rng)
        if not isinstance(answer, dict):
            raise self._violated("resample_state", answer, "a state (a dictionary)")
        return answer

    def _value(self, state: State, player: int) -> float:
        answer = self._game.value(state, player)
        if not is_finite(answer):
            raise self._violated("value_function", answer, "a finite number")
        return float(answer)

    def _policy(self, state: State, actions: list[Action], player: int) -> list[float]:
        answer = self._game.policy(state, actions, player)
        well_formed = isinstance(answer, list | tuple) and len(answer) == len(actions)
        if not well_formed or not all(is_finite(probability) for probability in answer):
            raise self._violated("policy_prior", answer, f"a list of {len(actions)} finite numbers")
        return [float(probability) for probability in answer]

    def _violated(self, function: str, answer: Any, expected: str) -> ContractError:
        shown = repr(answer)
        shown = shown if len(shown) <= 200 else f"{shown[:200]} …"
        error = ContractError(f"{function} must return {expected}, got {shown}")
        self.violation = self.violation or error
        return error


def _is_outcome(item: Any) -> bool:
    return isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[0], str) and is_finite(item[1])
