"""The decks of the Hanabi Learning Environment by seed, without that program: `hle:SEED`.

It draws card after card with C++'s Mersenne twister and `discrete_distribution` as libstdc++ has it; built with another
C++ library it deals other decks. Its decks do not depend on the number of players, so long as player 0 begins.
"""

import random
import re
from bisect import bisect_left
from collections import Counter
from itertools import accumulate
from typing import Final

from games.api import GameError
from games.hanabi.config import HanabiSizes

FIXED: Final = "hle:"
"""Before the seed of a game that player 0 begins."""
DRAWN: Final = "hle-random:"
"""Before the seed of a game whose first player was drawn, too; here player 0 begins, and the deck is the same."""
_CARDS: Final = re.compile(r"[A-Za-z]\d( [A-Za-z]\d)*")
_WORDS: Final = 624
_FACTOR: Final = 1812433253
_MOST: Final = 2**32


def deck(name: str, sizes: HanabiSizes) -> list[str]:
    """Returns all cards in the order in which they are drawn.

    Args:
        name: `hle:SEED` or `hle-random:SEED`, or all cards, the first one first: `B5 B3 R3 …`.
        sizes: of the game.

    Raises:
        GameError: no deck has this name.
    """
    if _CARDS.fullmatch(name):
        return _told(name.upper().split(), sizes)
    prefix, _, seed = name.partition(":")
    if f"{prefix}:" not in (FIXED, DRAWN) or not seed.isdecimal() or int(seed) >= _MOST:
        raise GameError(
            f"There is no deck {name!r}: give {FIXED}SEED or {DRAWN}SEED, SEED a number below {_MOST}, "
            "or all cards in order, as B5 B3 R3 …."
        )
    twister = _twister(int(seed))
    if f"{prefix}:" == DRAWN:
        twister.getrandbits(32)
    left, drawn = sizes.deck(), list[str]()
    while left:
        card = list(left)[_drawn(list(left.values()), twister)]
        drawn.append(card)
        left[card] -= 1
        if not left[card]:
            del left[card]
    return drawn


def _told(cards: list[str], sizes: HanabiSizes) -> list[str]:
    """Returns cards that were written down one by one, if they are the game's.

    Raises:
        GameError: a card is missing, or there is one too many.
    """
    left = Counter(sizes.deck())
    left.subtract(cards)
    wrong = [
        f"{count} {card} missing" if count > 0 else f"{-count} {card} too many" for card, count in left.items() if count
    ]
    if wrong:
        raise GameError(
            f"The deck of {len(cards)} cards is not the one of {sizes.id}, which has {sum(sizes.deck().values())}: "
            f"{', '.join(wrong[:5])}{', …' if len(wrong) > 5 else ''}; write down every card in the order of the draw."
        )
    return cards


def _drawn(copies: list[int], twister: random.Random) -> int:
    """Returns the place of the drawn kind: the first whose share, added up, is not below a number from 0 to 1."""
    if len(copies) == 1:
        return 0
    low, high = twister.getrandbits(32), twister.getrandbits(32)
    total = sum(copies)
    shares = [count / total for count in copies]
    return bisect_left([*list(accumulate(shares))[:-1], 1.0], (low + high * _MOST) / _MOST**2)


def _twister(seed: int) -> random.Random:
    """Returns Python's twister in the state of C++'s after seeding, which Python seeds in another way."""
    words = [seed]
    for index in range(1, _WORDS):
        words.append((_FACTOR * (words[-1] ^ words[-1] >> 30) + index) % _MOST)
    twister = random.Random()
    twister.setstate((3, (*words, _WORDS), None))
    return twister
