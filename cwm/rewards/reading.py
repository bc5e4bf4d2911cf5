"""Reads an answer where only its text and the legal moves are at hand: the move, and what was deduced."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from cwm.llm.json_answers import NoJsonAnswerError, last_object
from games.api import Action

Completion: TypeAlias = str | Sequence[Mapping[str, str]]
"""An answer as trainers give it: its text, or messages of which the last one is the answer."""

_KEYS: Final = ("action", "move")
_LABEL: Final = re.compile(
    r"^[\s*_#>-]*(?:chosen\s+(?:move|action)|action|move)(?:\s+number)?[\s*_]*[:=]\s*(.+)$",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBER: Final = re.compile(r"[#(\[]*(\d{1,9})[)\].]*")
_OFFSET: Final = re.compile(r"player\s*\+\s*(\d+)")


def text_of(completion: Completion) -> str:
    """Returns the text of an answer."""
    if isinstance(completion, str):
        return completion
    return str(completion[-1].get("content") or "") if completion else ""


def chosen(text: str, legal: Sequence[Action]) -> Action | None:
    """Returns the move that an answer names, None if it names none, an illegal one or two.

    It is the value of `action` or `move` in the last JSON object that has one of these, else what follows the last
    label `Chosen move:`, else the whole answer. A rating is never taken for a move.

    Args:
        text: the answer.
        legal: the legal moves, in the order of their numbers.
    """
    stated = [value for key in _KEYS if (value := _stated(text, key)) is not None]
    if not stated and "{" not in text:
        labelled = _LABEL.findall(text)
        stated = [labelled[-1] if labelled else text]
    meant = {_named(value, legal) for value in stated}
    return meant.pop() if len(meant) == 1 else None


def deduced(text: str, seat: int, players: int) -> dict[tuple[int, int], tuple[frozenset[str], frozenset[str]]]:
    """Returns what an answer deduces: by player and slot, colours and ranks; {} where nothing can be read.

    Args:
        text: the answer, with a JSON object that has `deduction`.
        seat: who answers.
        players: how many there are.
    """
    try:
        told = last_object(text, ("deduction",))["deduction"]
    except NoJsonAnswerError:
        return {}
    found = {}
    for who, hand in told.items() if isinstance(told, dict) else ():
        offset = _OFFSET.fullmatch(who.strip().lower())
        own = who.strip().lower() == "you"
        if not isinstance(hand, list) or not (own or (offset and 0 < int(offset[1]) < players)):
            continue
        player = seat if own or offset is None else (seat + int(offset[1])) % players
        for slot, card in enumerate(hand):
            if isinstance(card, dict):
                found[player, slot] = (_values(card.get("colours")), _values(card.get("ranks")))
    return found


def _stated(text: str, key: str) -> Any | None:
    try:
        return last_object(text, (key,))[key]
    except NoJsonAnswerError:
        return None


def _named(value: Any, legal: Sequence[Action]) -> Action | None:
    if isinstance(value, str):
        plain = value.strip().strip("*_`\"'").strip()
        same = [action for action in legal if plain.casefold() in (action.casefold(), action.strip("()").casefold())]
        if same:
            return same[0]
        number = _NUMBER.fullmatch(plain)
        value = int(number[1]) if number is not None else None
    if type(value) is not int or not 0 <= value < len(legal):
        return None
    return legal[value]


def _values(said: Any) -> frozenset[str]:
    if isinstance(said, list):
        return frozenset(str(value).upper() for value in said)
    return frozenset(str(said).upper()) if isinstance(said, str) else frozenset()
