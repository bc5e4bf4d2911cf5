"""Times a value function next to its model. Loaded into workers: standard library alone."""

import random
import time
from typing import Any

from games.api import CHANCE, TERMINAL, Game, State

MAX_ACTIONS = 10_000
CLOCK_EVERY = 16


def measure(game: Game, argument: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Plays random games, then asks for the value of every visited state in turn until the time is up.

    Args:
        game: a model with a value function.
        argument: `games`, how many random games to play; `seconds`, how long to ask.
        rng: chooses the actions.

    Returns:
        `calls`, `seconds`, `states`; `out_of_bounds`, how many visited states have a value outside the game's bounds
        for some player; and `wrong_ends`, how many finished games have a value that is not the reward.
    """
    states = [state for _ in range(argument["games"]) for state in _visited(game, rng)]
    value = game.value  # type: ignore[attr-defined]
    players = range(game.info.num_players)
    low, high = game.info.min_utility - 1e-9, game.info.max_utility + 1e-9
    out_of_bounds = sum(not all(_is_within(value(state, player), low, high) for player in players) for state in states)
    ends = [state for state in states if game.current_player(state) == TERMINAL]
    wrong_ends = sum(
        any(not _is_near(value(state, player), game.rewards(state)[player]) for player in players) for state in ends
    )
    calls, started, elapsed = 0, time.perf_counter(), 0.0
    while elapsed < argument["seconds"]:
        for _ in range(CLOCK_EVERY):
            value(states[calls % len(states)], calls % game.info.num_players)
            calls += 1
        elapsed = time.perf_counter() - started
    return {
        "calls": calls,
        "seconds": elapsed,
        "states": len(states),
        "out_of_bounds": out_of_bounds,
        "wrong_ends": wrong_ends,
    }


def _is_near(value: object, reward: float) -> bool:
    return isinstance(value, int | float) and abs(value - reward) <= 1e-9


def _is_within(value: object, low: float, high: float) -> bool:
    return isinstance(value, int | float) and low <= value <= high


def _visited(game: Game, rng: random.Random) -> list[State]:
    state = game.initial_state()
    visited = [state]
    for _ in range(MAX_ACTIONS):
        player = game.current_player(state)
        if player == TERMINAL:
            break
        if player == CHANCE:
            outcomes = game.chance_outcomes(state)
            action = rng.choices([name for name, _ in outcomes], [weight for _, weight in outcomes])[0]
        else:
            action = rng.choice(game.legal_actions(state))
        state = game.apply_action(state, action)
        visited.append(state)
    return visited
