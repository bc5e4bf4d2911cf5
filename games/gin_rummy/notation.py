"""How people and language models may write the moves of gin rummy, beside the exact names of the actions."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from games.api import Action, Json
from games.card_names import cards, flat, in_words

DESCRIPTION: Final = (
    "Cards may be written in words or with signs, and words like `discard`, `lay` and `meld` added: "
    '"discard the ten of spades", "10♠" and "10s" all mean `Ts`. The cards of a meld may stand in any order, with '
    'spaces or commas, or in a list: ["9c", "8c", "7c"] means `7c8c9c`. "take the upcard" means `Draw upcard`, '
    '"draw from the stock" means `Draw stock`.'
)

_FILLERS: Final = frozenset({"discard", "lay", "off", "down", "meld", "the", "card", "cards", "and", "play"})
_WORDS: Final[Mapping[str, Action]] = {
    "upcard": "Draw upcard",
    "stock": "Draw stock",
    "knock": "Knock",
    "pass": "Pass",
}
_DRAWING: Final = frozenset({"draw", "take", "from", "the", "i"})
_RANKS: Final = "A23456789TJQK"
_SUITS: Final = "scdh"
_SIGNS: Final = {"s": "♠", "c": "♣", "d": "♦", "h": "♥"}
_CARD: Final = re.compile(r"[A2-9TJQK][scdh]")


def candidates(move: Json) -> Sequence[Action]:
    """Returns the one action that a move names, legal or not, () if it names none."""
    text = flat(move)
    words = [word for word in text.split() if word not in _DRAWING]
    if len(words) == 1 and words[0] in _WORDS:
        return (_WORDS[words[0]],)
    found = cards(text, _FILLERS)
    one_rank = len({card[0] for card in found}) == 1
    in_order = sorted(found, key=lambda card: _SUITS.index(card[1]) if one_rank else _RANKS.index(card[0]))
    return ("".join(in_order),) if found else ()


def _cards(action: Action) -> list[str]:
    found = _CARD.findall(action)
    return found if "".join(found) == action else []


def _in_words(action: Action) -> Json:
    held = _cards(action)
    if not held:
        return {"Draw upcard": "Take the upcard", "Draw stock": "Draw from the stock"}.get(action, action)
    return ("Discard the " if len(held) == 1 else "Lay the ") + ", ".join(in_words(card) for card in held)


def _with_signs(action: Action) -> Json:
    signed = (("10" if card[0] == "T" else card[0]) + _SIGNS[card[1]] for card in _cards(action))
    return " ".join(signed) or action


def _backwards(action: Action) -> Json:
    return _cards(action)[::-1] or action


WRITERS: Final[Mapping[str, Callable[[Action], Json]]] = {
    "in words": _in_words,
    "with signs": _with_signs,
    "as a list in another order": _backwards,
}
"""An action in each of the documented notations."""
