"""Checks `resample_state` on one recorded decision point (the CWM paper, G.4).

Loaded into workers: standard library alone.
"""

from json import dumps, loads
from typing import Any

from cwm.sandbox.inside.calls import ProgramCalls
from cwm.sandbox.inside.comparisons import Mismatch, compare_actions, compare_exactly
from cwm.sandbox.inside.output import TailWriter

RESAMPLE = "resample_state"
PLAYER = "resampled_player"
OBSERVATION = "resampled_observation"
LEGAL = "resampled_legal_actions"
ONE_STATE = "only_one_state"


def check_state(
    calls: ProgramCalls, data: dict[str, Any], fields: dict[str, str], output: TailWriter
) -> list[Mismatch]:
    """Draws states and asks of each what the player sees and may do there.

    Args:
        calls: the program.
        data: `player`; `history`, its own decision points; `legal_actions`, what it could do at the last; `samples`,
            how many states are looked at; `several`, True if more than one state is known to fit; `draws`, how many
            are drawn at most until two differ.
        fields: takes the name of every field that was checked, with the status `pass`.
        output: takes a line for every state drawn.
    """
    text = dumps(data["history"])
    drawn: set[str] = set()
    fields |= dict.fromkeys((RESAMPLE, PLAYER, OBSERVATION, LEGAL), "pass")
    for _ in range(data["samples"]):
        state = _draw(calls, text, data["player"])
        output.note("Sampled state ", state)
        _compare(calls, dumps(state), data)
        drawn.add(dumps(state, sort_keys=True))
    if not data["several"]:
        return []
    fields[ONE_STATE] = "pass"
    tried = data["samples"]
    while len(drawn) < 2 and tried < data["draws"]:
        drawn.add(dumps(_draw(calls, text, data["player"]), sort_keys=True))
        tried += 1
    if len(drawn) > 1:
        return []
    message = f"several states fit these observations, but {tried} calls of {RESAMPLE} all returned the same one"
    return [Mismatch(ONE_STATE, message, "", "different states on different calls", loads(drawn.pop()))]


def _draw(calls: ProgramCalls, text: str, player: int) -> dict[str, Any]:
    # The program is given pairs, as its signature says; JSON knows lists alone.
    state = calls.call(RESAMPLE, [(observation, action) for observation, action in loads(text)], player)
    if not isinstance(state, dict):
        raise Mismatch(RESAMPLE, f"{RESAMPLE} must return a state (a dictionary), got {state!r}", got=state)
    return state


def _compare(calls: ProgramCalls, state: str, data: dict[str, Any]) -> None:
    player, seen = data["player"], data["history"][-1][0]
    mover = calls.on_state("get_current_player", state)
    if mover != player:
        message = f"in the resampled state player {player} must be to move, as it was; get_current_player says {mover}"
        raise Mismatch(PLAYER, message, "", player, mover)
    observations = calls.on_state("get_observations", state)
    got = observations[player] if isinstance(observations, list) and len(observations) > player else None
    mismatch = compare_exactly(OBSERVATION, seen, got)
    if mismatch is None:
        mismatch = compare_actions(LEGAL, data["legal_actions"], calls.on_state("get_legal_actions", state))
    if mismatch is not None:
        mismatch.message = f"in the resampled state, {mismatch.message}"
        raise mismatch
