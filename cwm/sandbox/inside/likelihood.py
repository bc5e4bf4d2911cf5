"""Bounds from below how likely a program makes what one player saw of a game (the CWM paper, 4.4).

A sampled history that recreates all that the player saw makes it certain. So what the player saw is at least as likely
as the history itself, and as all different such histories together. Loaded into workers: standard library alone.
"""

import math
import random
from collections import Counter
from json import dumps
from typing import Any

from cwm.sandbox.inside.calls import ProgramCalls
from cwm.sandbox.inside.comparisons import Mismatch, actions_problem, chance_problem
from cwm.sandbox.inside.inference import Evidence, draw, replay
from games.api import CHANCE

SHOWN_PROBLEMS = 3


def bound(game: Any, argument: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Draws histories of one game and returns how likely those are that recreate what was seen.

    The player's own actions are given, not predicted. Chance acts by the program's own probabilities, and the other
    players choose among their legal actions with equal probability.

    Args:
        game: the program.
        argument: `player`; `history`, what it saw and did, the last action null; `over`, whether the last observation
            is that of the end; `samples`, how many histories are drawn.
        rng: not used; programs draw from the module `random`, which is seeded once a request.

    Returns:
        `valid`, how many draws recreate what was seen; `best`, the log-likelihood (nats) of the likeliest of them, and
        `distinct`, that of all different ones together, both None if there is none; `problems`, why draws were not
        valid, with counts.
    """
    calls = ProgramCalls(game, {})
    evidence = Evidence(argument["player"], dumps(argument["history"]), argument["over"])
    found: dict[str, float] = {}
    problems: Counter[str] = Counter()
    valid = 0
    for _ in range(argument["samples"]):
        try:
            actions = draw(calls, evidence)
            found[dumps(actions)] = _log_likelihood(calls, actions, replay(calls, actions, evidence), evidence.player)
        except Mismatch as mismatch:
            problems[mismatch.field] += 1
        else:
            valid += 1
    return {
        "valid": valid,
        "best": max(found.values(), default=None),
        "distinct": _log_sum(list(found.values())) if found else None,
        "problems": dict(problems.most_common(SHOWN_PROBLEMS)),
    }


def _log_likelihood(calls: ProgramCalls, actions: list[str], states: list[Any], player: int) -> float:
    return math.fsum(
        math.log(_probability(calls, state, action, player)) for state, action in zip(states, actions, strict=False)
    )


def _probability(calls: ProgramCalls, state: Any, action: str, player: int) -> float:
    mover = calls.call("get_current_player", state)
    if mover == player:
        return 1.0
    if mover != CHANCE:
        legal = calls.call("get_legal_actions", state)
        if not legal or actions_problem(legal):
            raise Mismatch("legal_actions", f"get_legal_actions must list actions where one was taken, got {legal!r}")
        return 1.0 / len(legal)
    outcomes = calls.call("get_chance_outcomes", state)
    probability = 0.0 if chance_problem(outcomes) else dict(outcomes).get(action, 0.0)
    if not 0.0 < probability <= 1.0:
        raise Mismatch(
            "chance_outcomes", f"the outcome {action!r} of the resampled history cannot happen", got=outcomes
        )
    return float(probability)


def _log_sum(logs: list[float]) -> float:
    largest = max(logs)
    return largest + math.log(math.fsum(math.exp(value - largest) for value in logs))
