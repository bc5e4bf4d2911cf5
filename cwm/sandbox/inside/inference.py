"""Checks `resample_history` on one recorded decision point (the CWM paper, G.3).

Loaded into workers: standard library alone.
"""

from dataclasses import dataclass
from json import dumps, loads
from typing import Any

from cwm.sandbox.inside.calls import ProgramCalls
from cwm.sandbox.inside.comparisons import Mismatch, compare_exactly
from cwm.sandbox.inside.output import TailWriter
from games.api import TERMINAL

RESAMPLE = "resample_history"
OBSERVATION = "resampled_observation"
ACTION = "resampled_action"
END = "resampled_end"
ONE_HISTORY = "only_one_history"


@dataclass(frozen=True)
class Evidence:
    """What one player saw and did.

    Attributes:
        player: who.
        text: its own decision points as JSON text; the last action is null.
        over: None in the open deck, where the last entry is a decision point; in the closed deck (G.5) whether it is
            what the player saw at the end instead, which the program is told.
    """

    player: int
    text: str
    over: bool | None = None


def check_inference(
    calls: ProgramCalls, data: dict[str, Any], fields: dict[str, str], output: TailWriter
) -> list[Mismatch]:
    """Draws histories, replays each from the initial state and compares what the player would have seen and done.

    Args:
        calls: the program.
        data: `player`; `history`, its own decision points; `samples`, how many histories are replayed; `several`, True
            if more than one history is known to fit; `draws`, how many are drawn at most until two differ.
        fields: takes the name of every field that was checked, with the status `pass`.
        output: takes a line for every step of the replay.
    """
    evidence = Evidence(data["player"], dumps(data["history"]))
    drawn: set[str] = set()
    fields |= dict.fromkeys((RESAMPLE, OBSERVATION, ACTION, END), "pass")
    for _ in range(data["samples"]):
        actions = draw(calls, evidence)
        replay(calls, actions, evidence, output)
        drawn.add(dumps(actions))
    if not data["several"]:
        return []
    fields[ONE_HISTORY] = "pass"
    tried = data["samples"]
    while len(drawn) < 2 and tried < data["draws"]:
        actions = draw(calls, evidence)
        tried += 1
        drawn.add(dumps(actions))
    if len(drawn) > 1:
        return []
    message = f"several histories fit these observations, but {tried} calls of {RESAMPLE} all returned the same one"
    return [Mismatch(ONE_HISTORY, message, "", "different histories on different calls", loads(drawn.pop()))]


def draw(calls: ProgramCalls, evidence: Evidence) -> list[str]:
    """Returns a history that the program samples.

    Raises:
        Mismatch: it is no list of actions, or the program raised.
    """
    # The program is given pairs, as its signature says; JSON knows lists alone.
    history = [(observation, action) for observation, action in loads(evidence.text)]
    told = () if evidence.over is None else (evidence.over,)
    actions = calls.call(RESAMPLE, history, evidence.player, *told)
    if not isinstance(actions, list) or not all(isinstance(action, str) for action in actions):
        raise Mismatch(RESAMPLE, f"{RESAMPLE} must return a list of actions (strings), got {actions!r}", got=actions)
    return actions


def replay(calls: ProgramCalls, actions: list[str], evidence: Evidence, output: TailWriter | None = None) -> list[Any]:
    """Returns the states along a history, the initial and the last one included.

    Raises:
        Mismatch: the player would have seen or done something else, or an action is not legal.
    """
    own, player = loads(evidence.text), evidence.player
    state = calls.initial_state()
    states = [state]
    decision = 0
    for number, action in enumerate(actions):
        _note(output, "In state ", state)
        if calls.call("get_current_player", state) == player:
            _compare_decision(calls, state, action, own, decision, evidence)
            _note(output, "Recreated observation ", own[decision][0])
            decision += 1
        legal = calls.raw("get_legal_actions", state)
        if not isinstance(legal, list | tuple) or action not in legal:
            message = f"action {number} of the resampled history, {action!r}, is not legal there"
            raise Mismatch(ACTION, message, f"[{number}]", calls.plain("get_legal_actions", legal), action)
        _note(output, "Taking action ", action)
        state = calls.raw("apply_action", state, action)
        states.append(state)
    _note(output, "In state ", state)
    _compare_end(calls.call("get_current_player", state), decision, own, evidence)
    _compare_observation(calls, state, own, decision, player)
    return states


def _note(output: TailWriter | None, title: str, value: Any) -> None:
    if output is not None:
        output.note(title, value)


def _compare_end(mover: int, decision: int, own: list[Any], evidence: Evidence) -> None:
    player, decisions = evidence.player, len(own) - 1
    if evidence.over:
        wanted, where = TERMINAL, f"the game must be over, with {decisions} decisions of player {player} passed"
    else:
        wanted, where = player, f"player {player} must be at its decision point {len(own)}"
    if mover != wanted or decision != decisions:
        message = f"after the resampled history {where}; it has passed {decision} of them and player {mover} is to move"
        raise Mismatch(END, message, "", wanted, mover)


def _compare_decision(
    calls: ProgramCalls, state: Any, action: str, own: list[Any], number: int, evidence: Evidence
) -> None:
    player = evidence.player
    if number >= len(own) - 1:
        message = f"the resampled history goes on after player {player}'s decision point {len(own)}, the current one"
        if evidence.over:
            message = f"in the resampled history player {player} decides more often than the {number} times that it did"
        raise Mismatch(END, message, "", len(own) - 1, number + 1)
    _compare_observation(calls, state, own, number, player)
    if action != own[number][1]:
        message = f"at its decision point {number + 1} player {player} took {own[number][1]!r}, not {action!r}"
        raise Mismatch(ACTION, message, f"[{number}]", own[number][1], action)


def _compare_observation(calls: ProgramCalls, state: Any, own: list[Any], number: int, player: int) -> None:
    answer = calls.raw("get_observations", state)
    if _same_text(answer, player, own[number][0]):
        return
    observations = calls.plain("get_observations", answer)
    seen = observations[player] if isinstance(observations, list) and len(observations) > player else None
    mismatch = compare_exactly(OBSERVATION, own[number][0], seen)
    if mismatch:
        mismatch.message = f"at decision point {number + 1} of player {player}, {mismatch.message}"
        raise mismatch


def _same_text(answer: Any, player: int, expected: Any) -> bool:
    """Tells whether an observation is the expected one to the letter: the common case, at a tenth of the cost."""
    try:
        return dumps(answer[player], sort_keys=True) == dumps(expected, sort_keys=True)
    except (TypeError, ValueError, LookupError, RecursionError):
        return False
