"""The deck of Hand of War.

A card is a text of rank and suit, e.g. `QH`; suits never matter. Where speed counts, it is a number 0 to 15, its place
in the deck, which lists the ranks from low to high.
"""

from collections.abc import Mapping
from typing import Final

RANKS: Final = "JQKA"
"""From low to high."""
SUITS: Final = "CDHS"
DECK: Final = tuple(f"{rank}{suit}" for rank in RANKS for suit in SUITS)
"""From low to high, clubs first."""
NUMBER: Final[Mapping[str, int]] = {card: number for number, card in enumerate(DECK)}
STRENGTH: Final[Mapping[str, int]] = {card: RANKS.index(card[0]) for card in DECK}
"""By card: its rank's place, 0 to 3; the higher one wins."""
PILE: Final = len(DECK) // 2
"""So many cards each player is dealt."""
HAND: Final = 3
"""So many cards a full hand has."""
