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
        `calls`, `seconds`, `states`; `out_of_bounds`, how many visited states have a value that together with what
        earlier actions paid is outside the game's bounds for some player; and `wrong_ends`, how many finished games
        have a value that is not the reward.
    """
    visited = [seen for _ in range(argument["games"]) for seen in _visited(game, rng)]
    states = [state for state, _ in visited]
    value = game.value  # type: ignore[attr-defined]
    players = range(game.info.num_players)
    low, high = game.info.min_utility - 1e-9, game.info.max_utility + 1e-9
    out_of_bounds = sum(
        not all(_is_within(value(state, player), low - paid[player], high - paid[player]) for player in players)
        for state, paid in visited
    )
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


def _visited(game: Game, rng: random.Random) -> list[tuple[State, list[float]]]:
    """Returns the states of a random game, each with what every player was paid before its last action."""
    state = game.initial_state()
    paid = [0.0] * game.info.num_players
    visited = [(state, paid)]
    for _ in range(MAX_ACTIONS):
        player = game.current_player(state)
        if player == TERMINAL:
            break
        if player == CHANCE:
            outcomes = game.chance_outcomes(state)
            action = rng.choices([name for name, _ in outcomes], [weight for _, weight in outcomes])[0]
        else:
            action = rng.choice(game.legal_actions(state))
        paid = [before + now for before, now in zip(paid, game.rewards(state), strict=True)]
        state = game.apply_action(state, action)
        visited.append((state, paid))
    return visited
