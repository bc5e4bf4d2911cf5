"""Plays a program at random (the CWM paper, G.5) and checks its value function. Standard library alone."""

import math
from json import dumps
from random import Random
from typing import Any

from cwm.sandbox.inside.calls import ProgramCalls
from cwm.sandbox.inside.comparisons import TOLERANCE, Mismatch, actions_problem, chance_problem, is_number
from cwm.sandbox.inside.output import TailWriter
from games.api import CHANCE, TERMINAL

LENGTH = "length"
VALUE = "value"
NOT_REPEATABLE = "not_repeatable"


def check_random_play(
    calls: ProgramCalls, data: dict[str, Any], fields: dict[str, str], output: TailWriter, rng: Random
) -> list[Mismatch]:
    """Plays uniformly random legal actions until the end and checks the form of every answer on the way.

    Args:
        calls: the program.
        data: `num_players` and `max_length`, an upper bound on the number of actions, chance's too.
        fields: takes the name of every field that was checked, with the status `pass`.
        output: takes a line for every state and action.
        rng: chooses the actions.
    """
    names = ("current_player", "rewards", "observations", "legal_actions", "chance_outcomes", "next_state", LENGTH)
    fields |= dict.fromkeys(names, "pass")
    players, limit = data["num_players"], data["max_length"]
    state = calls.initial_state()
    for _ in range(limit + 1):
        text = dumps(state)
        output.note("In state ", state)
        player = calls.on_state("get_current_player", text)
        if isinstance(player, bool) or player not in (CHANCE, TERMINAL, *range(players)):
            allowed = f"0 to {players - 1}, {CHANCE} or {TERMINAL}"
            raise Mismatch("current_player", f"get_current_player must return {allowed}, got {player!r}", got=player)
        _check_forms(calls, text, players)
        legal = calls.on_state("get_legal_actions", text)
        _check_actions(legal, player)
        _check_chance(calls.on_state("get_chance_outcomes", text), legal, player)
        if player == TERMINAL:
            return []
        action = rng.choice(legal)
        output.note("Taking action ", action)
        state = calls.on_state("apply_action", text, action)
    message = f"the game did not end within {limit} random actions"
    raise Mismatch(LENGTH, message, "", f"at most {limit} actions", f"more than {limit} actions")


def _check_forms(calls: ProgramCalls, text: str, players: int) -> None:
    rewards = calls.on_state("get_rewards", text)
    if not isinstance(rewards, list) or len(rewards) != players or not all(map(is_number, rewards)):
        raise Mismatch("rewards", f"get_rewards must return {players} numbers, got {rewards!r}", got=rewards)
    seen = calls.on_state("get_observations", text)
    if not isinstance(seen, list) or len(seen) != players or not all(isinstance(item, dict) for item in seen):
        message = f"get_observations must return {players} dicts, got {seen!r}"
        raise Mismatch("observations", message, got=seen)


def _check_actions(legal: Any, player: int) -> None:
    problem = actions_problem(legal)
    if problem is None and bool(legal) == (player == TERMINAL):
        problem = f"expected {'no action at the end' if legal else 'at least one action'}, got {legal!r}"
    if problem:
        raise Mismatch("legal_actions", f"get_legal_actions, player {player} to move: {problem}", got=legal)


def _check_chance(outcomes: Any, legal: list[str], player: int) -> None:
    problem = chance_problem(outcomes)
    if problem is None and player != CHANCE and outcomes:
        problem = f"expected [] where chance is not to move, got {outcomes!r}"
    if problem is None and player == CHANCE:
        total = math.fsum(probability for _, probability in outcomes)
        if {action for action, _ in outcomes} != set(legal):
            problem = f"its outcomes are not the legal actions {legal!r}: {outcomes!r}"
        elif abs(total - 1.0) > TOLERANCE or any(probability < 0 for _, probability in outcomes):
            problem = f"probabilities must not be negative and sum to 1, they sum to {total!r}"
    if problem:
        raise Mismatch("chance_outcomes", f"get_chance_outcomes: {problem}", got=outcomes)


def check_value(calls: ProgramCalls, data: dict[str, Any], fields: dict[str, str]) -> list[Mismatch]:
    """Asks the value function about one state (the CWM paper, G.7).

    Args:
        calls: the program.
        data: `state`; `rewards`, what the function must return for each player at the end, None before; `num_players`.
        fields: takes the name of every field that was checked, with the status `pass`.
    """
    text = dumps(data["state"])
    fields |= dict.fromkeys((VALUE, NOT_REPEATABLE, "mutated_input"), "pass")
    for player in range(data["num_players"]):
        value = calls.on_state("value_function", text, player)
        if not is_number(value):
            raise Mismatch(VALUE, f"value_function must return a float, got {value!r} for player {player}", got=value)
        if data["rewards"] is not None and abs(value - data["rewards"][player]) > TOLERANCE:
            expected = data["rewards"][player]
            message = f"at the end value_function of player {player} must be its reward {expected!r}, got {value!r}"
            raise Mismatch(VALUE, message, "", expected, value)
        again = calls.on_state("value_function", text, player)
        if again != value:
            message = f"value_function of player {player} answered {value!r}, then {again!r} for the same state"
            raise Mismatch(NOT_REPEATABLE, message, "", value, again)
    return []
