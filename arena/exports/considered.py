"""What players had considered before their moves, where a game's record keeps it, as the player of games shows it.

A record that others made may hold anything: what has not the form of a thought is left out.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from arena.language_players.turn_record import LONGEST_REASON, thoughts
from arena.matches.match import GameRecord

MOST_MOVES: Final = 12
"""Moves that a page tells, the likeliest first."""
MOST_PARTS: Final = 40
MOST_VALUES: Final = 6
"""Parts of a belief, and values of one part, that a page tells."""
LONGEST: Final = 200
"""Characters of a text."""


def steps(record: GameRecord) -> list[dict[str, Any] | None]:
    """Returns what the player to move had considered, after so many actions; None where nothing is kept of that.

    Each has `simulations` (None if there were none), `moves`, each `[action, share, visits, value, played]` with None
    for what is not known, `more` moves that are not listed, and `belief`, `[[part, [[value, share], …]], …]`. Where a
    language model rated moves, each has its rating or None as one more; `reason` is there where it gave one.
    """
    kept = record.thoughts
    found = thoughts(record.actions, record.accounts) | (dict(kept) if isinstance(kept, Mapping) else {})
    played = [action for _, action in record.actions]
    return [_told(found.get(str(number)), next_) for number, next_ in enumerate([*played, None])]


def _told(thought: Any, played: str | None) -> dict[str, Any] | None:
    if not isinstance(thought, Mapping):
        return None
    listed = [move for move in _list(thought.get("moves")) if isinstance(move, Mapping) and "action" in move]
    visits = sum(_number(move.get("visits")) or 0 for move in listed)
    rated = any(_number(move.get("rating")) is not None for move in listed)
    rows: list[tuple[Any, ...]] = []
    for move in listed:
        count, share = _number(move.get("visits")), _number(move.get("share"))
        part = share if share is not None else (count or 0) / visits if visits else 0.0
        action = str(move["action"])
        row = (action[:LONGEST], min(1.0, max(0.0, part)), count, _number(move.get("value")), action == played)
        rows.append((*row, _number(move.get("rating"))) if rated else row)
    reason = thought.get("reason")
    told = {"reason": reason[:LONGEST_REASON]} if isinstance(reason, str) and reason else {}
    if not rows and not told:
        return None
    if not rated:  # those are ranked already
        rows.sort(key=lambda row: -row[1])
    left_out = _number(thought.get("left_out")) or 0
    return {
        "simulations": _number(thought.get("simulations")),
        "moves": rows[:MOST_MOVES],
        "more": int(max(0, left_out)) + max(0, len(rows) - MOST_MOVES),
        "belief": _belief(thought.get("belief")),
        **told,
    }


def _belief(belief: Any) -> list[list[Any]]:
    parts = []
    for part in _list(belief)[:MOST_PARTS]:
        if isinstance(part, Sequence) and len(part) == 2 and isinstance(part[0], str):
            shares = [[str(pair[0])[:LONGEST], share] for pair in _list(part[1]) if (share := _share(pair)) is not None]
            parts.append([part[0][:LONGEST], shares[:MOST_VALUES]])
    return [part for part in parts if part[1]]


def _share(pair: Any) -> float | None:
    share = _number(pair[1]) if isinstance(pair, list) and len(pair) == 2 else None
    return share if share is not None and 0 <= share <= 1 else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _number(value: Any) -> float | None:
    """Returns a finite number, None for all else."""
    return value if type(value) in (int, float) and abs(value) < 1e300 else None
