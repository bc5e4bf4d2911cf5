"""Draws many histories from a program's inference function. Loaded into workers: standard library alone."""

import random
from typing import Any

from games.api import Json


def draw(game: Any, argument: dict[str, Any], rng: random.Random) -> list[Json]:
    """Returns every history that was drawn with how often it was, in the order in which they first came.

    Args:
        game: a program that defines `resample_history`.
        argument: `history`, the player's own decision points as [observation, action] pairs; `player`; `samples`, how
            many histories are drawn.
        rng: handed on; a program draws from the module `random`, which the request seeds.

    Returns:
        `[actions, count]` pairs; what is no list of texts counts under None.
    """
    counts: dict[tuple[str, ...] | None, int] = {}
    for _ in range(argument["samples"]):
        # A fresh copy each time: a program that changes what it is given deceives itself alone.
        history = [(_copied(observation), action) for observation, action in argument["history"]]
        actions = game.resample_history(history, argument["player"], rng)
        valid = isinstance(actions, list | tuple) and all(isinstance(action, str) for action in actions)
        key = tuple(actions) if valid else None
        counts[key] = counts.get(key, 0) + 1
    return [[None if actions is None else list(actions), count] for actions, count in counts.items()]


def _copied(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copied(item) for item in value]
    return value
