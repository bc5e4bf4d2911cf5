"""Pure functions from answers to rewards, with the signature that trainers call.

Each takes `completions`, and the column `info` of rows of `cwm turns export --as rlvr` (JSON texts), and returns a
number for every answer; further columns are passed over. `functools.partial` sets an option.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, get_args

from cwm.rewards.reading import Completion, chosen, deduced, text_of

Mode: TypeAlias = Literal["clip", "raw", "normalize"]
LEAST_SPREAD: Final = 1.0
"""Values that lie closer together count as lying so far apart, in the game's units."""


def rating_reward(
    completions: Sequence[Completion], info: Sequence[str], mode: Mode = "clip", **columns: Any
) -> list[float]:
    """Returns the rating of each chosen move; an answer without a legal move, or with an unrated one, gets 0.

    Args:
        completions: the answers.
        info: of each.
        mode: `clip` counts ratings below 0 as 0, as the Hanabi paper does; `raw` leaves them; `normalize` maps [-1, 1]
            to [0, 1].
        columns: passed over.

    Raises:
        ValueError: there is no such mode.
    """
    if mode not in get_args(Mode):
        raise ValueError(f"mode is {mode!r}, expected {', '.join(get_args(Mode))}.")
    found = []
    for completion, about in _pairs(completions, info):
        rating = _of_move(completion, about, about["ratings"])
        changed = {"clip": max(0.0, rating or 0.0), "raw": rating or 0.0, "normalize": ((rating or 0.0) + 1) / 2}
        found.append(0.0 if rating is None else changed[mode])
    return found


def regret_reward(completions: Sequence[Completion], info: Sequence[str], **columns: Any) -> list[float | None]:
    """Returns 1 for the best move by search, and less by the share of the spread that a move gives away.

    An answer without a legal move gets 0; where no move was valued there is no reward, which trainers take as None.

    Args:
        completions: the answers.
        info: of each.
        columns: passed over.
    """
    found: list[float | None] = []
    for completion, about in _pairs(completions, info):
        known = [value for value in about["q"] if value is not None]
        if not known:
            found.append(None)
            continue
        value = _of_move(completion, about, about["q"])
        spread = max(max(known) - min(known), LEAST_SPREAD)
        found.append(0.0 if value is None else 1.0 - (max(known) - value) / spread)
    return found


def deduction_reward(completions: Sequence[Completion], info: Sequence[str], **columns: Any) -> list[float | None]:
    """Returns the share of slots whose colours and ranks an answer gives as they are in truth; None without a truth.

    Args:
        completions: the answers.
        info: of each.
        columns: passed over.
    """
    found: list[float | None] = []
    for completion, about in _pairs(completions, info):
        said = deduced(text_of(completion), about["seat"], about["players"])
        right = [
            said.get((slot["player"], slot["slot"])) == (frozenset(slot["colours"]), frozenset(slot["ranks"]))
            for slot in about["truth"]
        ]
        found.append(sum(right) / len(right) if right else None)
    return found


def format_reward(completions: Sequence[Completion], info: Sequence[str], **columns: Any) -> list[float]:
    """Returns 1 for an answer that names one legal move, else 0.

    Args:
        completions: the answers.
        info: of each.
        columns: passed over.
    """
    return [
        float(chosen(text_of(completion), about["legal"]) is not None)
        for completion, about in _pairs(completions, info)
    ]


def _pairs(completions: Sequence[Completion], info: Sequence[str]) -> list[tuple[Completion, Mapping[str, Any]]]:
    return [(completion, json.loads(text)) for completion, text in zip(completions, info, strict=True)]


def _of_move(completion: Completion, about: Mapping[str, Any], values: Sequence[float | None]) -> float | None:
    """Returns the value of the chosen move, None if there is none."""
    legal: list[str] = about["legal"]
    move = chosen(text_of(completion), legal)
    return None if move is None or not values else values[legal.index(move)]
