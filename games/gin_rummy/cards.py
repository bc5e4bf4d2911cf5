"""Card names, numbered as OpenSpiel does, and what they count."""

from collections.abc import Iterable
from typing import Final

RANKS: Final = "A23456789TJQK"
SUITS: Final = "scdh"
DECK: Final = tuple(rank + suit for suit in SUITS for rank in RANKS)
"""All 52 cards, e.g. `Th` for the ten of hearts, in the order in which hands and actions are listed."""
VALUES: Final = {card: min(RANKS.index(card[0]) + 1, 10) for card in DECK}
"""Points of a card: the ace 1, court cards 10."""
HAND_SIZE: Final = 10


def total(cards: Iterable[str]) -> int:
    """Returns the points of some cards."""
    return sum(VALUES[card] for card in cards)


def split(meld: str) -> list[str]:
    """Returns the cards of a meld's name, e.g. `["7c", "8c", "9c"]` for `7c8c9c`."""
    return [meld[start : start + 2] for start in range(0, len(meld), 2)]
