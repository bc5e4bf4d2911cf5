"""The state of batched Hanabi and the sizes that never change during a game.

A *kind* of card is colour · R + rank, with colours and ranks from 0 on, as chance numbers them in OpenSpiel.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from games.batched.api import Array
from games.hanabi.config import HanabiSizes

NOTHING: Final = -1
"""In place of a card, a player or an action."""
DISCARD: Final = 0
PLAY: Final = 1
HINT_COLOUR: Final = 2
HINT_RANK: Final = 3
NO_OP: Final = 4


class LastMove(NamedTuple):
    """The last move of a player, as everybody saw it; before the first move `player` is `NOTHING`.

    Attributes:
        player: int8 [].
        action: int8 [].
        card: int8 [], the kind that was played or discarded, or `NOTHING`.
        touched: bool [H], the cards that a hint named.
        scored: bool [], the card went onto a firework.
        returned: bool [], playing it gave an information token back.
    """

    player: Array
    action: Array
    card: Array
    touched: Array
    scored: Array
    returned: Array


class HanabiArrays(NamedTuple):
    """One game, or B games with a lane axis at the end of every array.

    Attributes:
        deck: int8 [D], kinds in the order in which they are dealt.
        cards: int8 [P, H], kinds in the hands, oldest first; `NOTHING` after the last card.
        places: int8 [P, H], where in the deck the cards lay.
        colours: uint8 [P, H], bit c set if hints leave colour c possible; 0 after the last card.
        ranks: uint8 [P, H], likewise.
        told_colour: bool [P, H], a hint named the card's colour.
        told_rank: bool [P, H], likewise.
        fireworks: int8 [C], the highest rank played of each colour, 0 for none.
        discards: int8 [K], discarded or misplayed cards of each kind.
        info: int8 [], information tokens.
        lives: int8 [].
        dealt: int8 [], cards dealt so far.
        turns: int8 [], turns left; it counts once the deck is empty.
        player: int8 [], who is to move, or `NOTHING` once the game is over.
        length: int32 [], moves of players so far.
        last: the last move.
    """

    deck: Array
    cards: Array
    places: Array
    colours: Array
    ranks: Array
    told_colour: Array
    told_rank: Array
    fireworks: Array
    discards: Array
    info: Array
    lives: Array
    dealt: Array
    turns: Array
    player: Array
    length: Array
    last: LastMove


@dataclass(frozen=True)
class HanabiTables:
    """HanabiTables and tables of one variant; P players, H cards a hand, C colours, R ranks, K kinds, D cards.

    Attributes:
        config: the variant.
    """

    config: HanabiSizes

    @property
    def players(self) -> int:
        return self.config.players

    @property
    def hand(self) -> int:
        return self.config.hand

    @property
    def colours(self) -> int:
        return self.config.colours

    @property
    def ranks(self) -> int:
        return self.config.ranks

    @property
    def kinds(self) -> int:
        return self.colours * self.ranks

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Cards of each kind."""
        return tuple(self.config.deck().values())

    @cached_property
    def cards(self) -> int:
        """Cards of the deck, D."""
        return sum(self.counts)

    @cached_property
    def sorted_deck(self) -> NDArray[np.int8]:
        """All cards, kind after kind, [D]."""
        return np.repeat(np.arange(self.kinds), self.counts).astype(np.int8)

    @property
    def first_colour(self) -> int:
        """Number of the first hint of a colour: after the discards and the plays."""
        return 2 * self.hand

    @property
    def first_rank(self) -> int:
        return self.first_colour + (self.players - 1) * self.colours

    @property
    def no_op(self) -> int:
        """Number of the no-op, the last action; the moves before it have OpenSpiel's numbers."""
        return self.first_rank + (self.players - 1) * self.ranks

    @property
    def actions(self) -> int:
        """Number of actions, N."""
        return self.no_op + 1

    @cached_property
    def table(self) -> NDArray[np.int8]:
        """By action: its type, its slot or the colour or rank it names, and how many seats on it points, [N, 3]."""
        others = range(1, self.players)
        rows = [(DISCARD, slot, 0) for slot in range(self.hand)]
        rows += [(PLAY, slot, 0) for slot in range(self.hand)]
        rows += [(HINT_COLOUR, colour, offset) for offset in others for colour in range(self.colours)]
        rows += [(HINT_RANK, rank, offset) for offset in others for rank in range(self.ranks)]
        return np.array([*rows, (NO_OP, 0, 0)], np.int8)

    @property
    def max_length(self) -> int:
        """Moves at most: a move for every card of the deck, then a turn each, and a hint for every token there was."""
        drawn = self.cards - self.players * self.hand
        return 2 * drawn + self.config.info + self.players

    @property
    def features(self) -> int:
        """Length of OpenSpiel's canonical encoding, F."""
        a_card = self.kinds + self.colours + self.ranks
        hands = (self.players - 1) * self.hand * self.kinds + self.players
        drawn = self.cards - self.players * self.hand
        board = drawn + self.kinds + self.config.info + self.config.lives
        move = 2 * self.players + 4 + self.colours + self.ranks + 2 * self.hand + self.kinds + 2
        return hands + board + self.cards + move + self.players * self.hand * a_card
