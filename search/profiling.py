"""Where the time of searches goes, function by function of the model. Loaded into workers: standard library alone."""

import cProfile
import random
import time
from collections.abc import Sequence
from types import CodeType
from typing import Any

from games.api import Game
from search import planner
from search.api import PlannerConfig, Position
from search.session import PAYLOAD as SESSION_PAYLOAD

PAYLOAD: tuple[str, ...] = (*SESSION_PAYLOAD, "search.profiling")
"""The modules that a worker must load, each after those it imports."""


def profile(game: Game, argument: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Searches under a profiler.

    Args:
        game: the model.
        argument: `config`; `positions`: a list of `{player, history, state}`; `files`: names of the files whose
            functions are the model's.
        rng: the searches' randomness.

    Returns:
        `simulations`; `seconds`, the profiler's cost included; and `functions`: [name, first line, calls, own seconds]
        of each function of those files. What a function calls outside of them counts as its own.
    """
    chooser = planner.make(game, PlannerConfig.from_json(argument["config"]))
    positions = [_position(position) for position in argument["positions"]]
    profiler = cProfile.Profile(builtins=False)
    begin = time.perf_counter()
    profiler.enable()
    try:
        decisions = [chooser.choose(position, rng) for position in positions]
    finally:
        profiler.disable()
    seconds = time.perf_counter() - begin
    return {
        "simulations": sum(decision.simulations for decision in decisions),
        "seconds": seconds,
        "functions": _functions(profiler.getstats(), argument["files"]),
    }


def _functions(entries: Sequence[Any], files: Sequence[str]) -> list[list[Any]]:
    found = []
    for entry in entries:
        code = entry.code
        if not isinstance(code, CodeType) or code.co_filename not in files:
            continue
        outside = sum(called.totaltime for called in entry.calls or () if not _is_of(called.code, files))
        found.append([code.co_name, code.co_firstlineno, entry.callcount, entry.inlinetime + outside])
    return sorted(found)


def _is_of(code: Any, files: Sequence[str]) -> bool:
    return isinstance(code, CodeType) and code.co_filename in files


def _position(argument: dict[str, Any]) -> Position:
    history = [(observation, action) for observation, action in argument.get("history") or []]
    return Position(argument["player"], history, argument.get("state"))
