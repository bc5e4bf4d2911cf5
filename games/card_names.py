"""Playing cards as people write them: `10♠`, `ten of spades`, `Ts`."""

import re
from collections.abc import Collection
from typing import Final

from games.api import Json

_RANKS: Final = {
    "ace": "A",
    "two": "2",
    "three": "3",
    "four": "4",
    "five": "5",
    "six": "6",
    "seven": "7",
    "eight": "8",
    "nine": "9",
    "ten": "T",
    "jack": "J",
    "queen": "Q",
    "king": "K",
    "10": "T",
}
_SUITS: Final = {"♠": "s", "♣": "c", "♦": "d", "♥": "h"}
RANK_NAMES: Final = {rank: name for name, rank in _RANKS.items() if name.isalpha()}
SUIT_NAMES: Final = {"s": "spades", "c": "clubs", "d": "diamonds", "h": "hearts"}

_CARD: Final = re.compile(
    rf"({'|'.join(_RANKS)}|[2-9tjqka])\s*(?:of\s+)?(spades?|clubs?|diamonds?|hearts?|[scdh](?![a-z])|[♠♣♦♥]|[scdh](?=[2-9tjqka]))"
)
_GAP: Final = re.compile(r"[\s,;+]+")


def flat(move: Json) -> str:
    """Returns a move in lower case, a list's parts with spaces between."""
    return " ".join(flat(part) for part in move) if isinstance(move, list) else str(move).casefold().strip()


def cards(text: str, fillers: Collection[str] = ()) -> tuple[str, ...]:
    """Returns the cards that a text names, in its order, as rank (`A`, `2` to `9`, `T`, `J`, `Q`, `K`) and suit (`s`,
    `c`, `d`, `h`); () if it holds anything else.

    Args:
        text: in lower case.
        fillers: words that may stand beside the cards.
    """
    found: list[str] = []
    position = 0
    rest = _GAP.sub(" ", " ".join(word for word in _GAP.split(text) if word not in fillers)).strip()
    while position < len(rest):
        match = _CARD.match(rest, position)
        if match is None:
            return ()
        rank, suit = match[1], match[2]
        found.append(_RANKS.get(rank, rank.upper()) + _SUITS.get(suit, suit[0]))
        position = match.end()
        position += rest[position : position + 1] == " "
    return tuple(found)


def in_words(card: str) -> str:
    """Returns a card, rank and suit, in words, e.g. `ten of spades`."""
    return f"{RANK_NAMES.get(card[0].upper(), card[0])} of {SUIT_NAMES[card[1].lower()]}"
