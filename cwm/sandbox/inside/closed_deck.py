"""Checks `resample_history` on what one player alone saw of a game, its end included (the CWM paper, G.5).

Loaded into workers: standard library alone. Nothing here knows what really happened: that several histories fit is
claimed only where, by the program's own rules, another one does.
"""

from collections.abc import Iterator
from json import dumps, loads
from random import Random
from typing import Any

from cwm.sandbox.inside.calls import ProgramCalls
from cwm.sandbox.inside.comparisons import TOLERANCE, Mismatch, actions_problem, chance_problem, is_number
from cwm.sandbox.inside.inference import ACTION, END, OBSERVATION, ONE_HISTORY, RESAMPLE, Evidence, draw, replay
from cwm.sandbox.inside.output import TailWriter
from games.api import CHANCE

RETURN = "resampled_return"
MOST_VARIANTS = 40
"""So many changed histories are tried at most, to find a second one that fits."""
LEAST_ODDS = 0.1
"""An outcome of chance this much less likely than the sampled one is no evidence: a right sampler may not draw it."""
SHOWN_RETURNS = 5


def check_closed_deck(
    calls: ProgramCalls, data: dict[str, Any], fields: dict[str, str], output: TailWriter, rng: Random
) -> list[Mismatch]:
    """Draws histories, replays each from the initial state and compares what the player would have seen and done.

    Args:
        calls: the program.
        data: `player`; `history`, its own decision points and, with `last_is_terminal`, what it saw at the end;
            `return`, what it was then paid in all, else None; `samples`, how many histories are replayed; `draws`, how
            many are drawn at most until two differ; `return_draws`, the same until one pays the return.
        fields: takes the name of every field that was checked, with the status `pass`.
        output: takes a line for every step of the replay.
        rng: chooses which changed histories are tried.
    """
    evidence = Evidence(data["player"], dumps(data["history"]), data["last_is_terminal"])
    fields |= dict.fromkeys((RESAMPLE, OBSERVATION, ACTION, END), "pass")
    drawn: dict[str, float] = {}
    for _ in range(data["samples"]):
        _add(calls, evidence, drawn, output)
    failed: list[Mismatch] = []
    if evidence.over:
        fields[RETURN] = "pass"
        failed += _check_return(calls, evidence, drawn, data, output)
    if len(drawn) == 1 and _another_fits(calls, evidence, loads(next(iter(drawn))), rng):
        fields[ONE_HISTORY] = "pass"
        failed += _check_variety(calls, evidence, drawn, data)
    return failed


def _add(calls: ProgramCalls, evidence: Evidence, drawn: dict[str, float], output: TailWriter) -> float:
    """Draws and replays one history; returns what it pays the player in all, 0.0 if the game is not over."""
    actions = draw(calls, evidence)
    states = replay(calls, actions, evidence, output)
    paid = sum(_reward(calls, state, evidence.player) for state in states) if evidence.over else 0.0
    drawn[dumps(actions)] = paid
    return paid


def _reward(calls: ProgramCalls, state: Any, player: int) -> float:
    rewards = calls.call("get_rewards", state)
    if not isinstance(rewards, list) or len(rewards) <= player or not is_number(rewards[player]):
        raise Mismatch("rewards", f"get_rewards must return a number a player, got {rewards!r}", got=rewards)
    return float(rewards[player])


def _check_return(
    calls: ProgramCalls, evidence: Evidence, drawn: dict[str, float], data: dict[str, Any], output: TailWriter
) -> list[Mismatch]:
    """What was seen may leave open how the game was decided: the true return must be among those of the histories."""
    wanted = data["return"]
    paid = sorted(set(drawn.values()))
    tried = data["samples"]
    while not any(abs(value - wanted) <= TOLERANCE for value in paid):
        if tried >= data["return_draws"]:
            message = (
                f"player {evidence.player} was paid {wanted!r} in all, but none of {tried} resampled games pays that; "
                f"they pay {', '.join(map(repr, paid[:SHOWN_RETURNS]))}"
            )
            return [Mismatch(RETURN, message, "", wanted, paid[:SHOWN_RETURNS])]
        paid = sorted({*paid, _add(calls, evidence, drawn, output)})
        tried += 1
    return []


def _check_variety(
    calls: ProgramCalls, evidence: Evidence, drawn: dict[str, float], data: dict[str, Any]
) -> list[Mismatch]:
    tried = data["samples"]
    seen = set(drawn)
    while len(seen) < 2 and tried < data["draws"]:
        seen.add(dumps(draw(calls, evidence)))
        tried += 1
    if len(seen) > 1:
        return []
    message = (
        f"by the module's own rules several histories fit these observations, but {tried} calls of {RESAMPLE} all "
        "returned the same one"
    )
    return [Mismatch(ONE_HISTORY, message, "", "different histories on different calls", loads(seen.pop()))]


def _another_fits(calls: ProgramCalls, evidence: Evidence, actions: list[str], rng: Random) -> bool:
    """Returns whether the history still fits with one event, of chance or of another player, replaced."""
    states = replay(calls, actions, evidence)
    places = [
        place for place in range(len(actions)) if calls.call("get_current_player", states[place]) != evidence.player
    ]
    rng.shuffle(places)
    tried = 0
    for place in places:
        for variant in _variants(calls, states[place], actions, place):
            if tried >= MOST_VARIANTS:
                return False
            tried += 1
            if _fits(calls, evidence, variant):
                return True
    return False


def _variants(calls: ProgramCalls, state: Any, actions: list[str], place: int) -> Iterator[list[str]]:
    """Yields histories with another action at one place; where that one came later, the two change places."""
    done = actions[place]
    for other in _others(calls, state, done):
        yield [*actions[:place], other, *actions[place + 1 :]]
        if other in actions[place + 1 :]:
            later = actions.index(other, place + 1)
            yield [*actions[:place], other, *actions[place + 1 : later], done, *actions[later + 1 :]]


def _others(calls: ProgramCalls, state: Any, done: str) -> list[str]:
    legal = calls.call("get_legal_actions", state)
    # Answers of a wrong form are for the tests by random play to find.
    if actions_problem(legal):
        return []
    others = [action for action in legal if action != done]
    if calls.call("get_current_player", state) != CHANCE:
        return others
    outcomes = calls.call("get_chance_outcomes", state)
    odds = {} if chance_problem(outcomes) else dict(outcomes)
    return [action for action in others if odds.get(action, 0.0) >= LEAST_ODDS * odds.get(done, 1.0)]


def _fits(calls: ProgramCalls, evidence: Evidence, actions: list[str]) -> bool:
    try:
        replay(calls, actions, evidence)
    except Mismatch:
        return False
    return True
