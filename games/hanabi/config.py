"""Sizes of a game of Hanabi, checked before OpenSpiel's engine sees them: it ends the whole process on wrong ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from games.api import Action, GameError

COLOURS: Final = "RYGWB"
"""Red, yellow, green, white, blue: the colours of a smaller game are the first ones."""
PLAYERS: Final = range(2, 6)
MOST_RANKS: Final = 5
MOST_TOKENS: Final = 50
"""So many tokens of a kind at most; the game in the shops has 8 and 3."""


@dataclass(frozen=True)
class HanabiSizes:
    """The sizes of a game.

    Attributes:
        players: 2 to 5.
        colours: 1 to 5.
        ranks: 1 to 5.
        hand: cards in a full hand.
        info: information tokens at the start, and the most there may be.
        lives: life tokens at the start.
    """

    players: int
    colours: int = 5
    ranks: int = 5
    hand: int = 5
    info: int = 8
    lives: int = 3

    @property
    def id(self) -> str:
        """The registered id of these sizes, or one that tells them all."""
        known = {sizes: name for name, sizes in VARIANTS.items()}
        sizes = (self.colours, self.ranks, self.hand, self.info, self.lives)
        return known.get(self) or f"hanabi-{self.players}p-{'-'.join(map(str, sizes))}"

    @property
    def letters(self) -> str:
        """The letters of the colours."""
        return COLOURS[: self.colours]

    @property
    def perfect(self) -> int:
        """The most points."""
        return self.colours * self.ranks

    @property
    def engine(self) -> str:
        """What OpenSpiel calls this game."""
        return (
            f"hanabi(players={self.players},colors={self.colours},ranks={self.ranks},hand_size={self.hand},"
            f"max_information_tokens={self.info},max_life_tokens={self.lives})"
        )

    def copies(self, rank: int) -> int:
        """Returns how many cards of a rank the deck has in each colour."""
        if rank == 1:
            return 3
        return 1 if rank == self.ranks else 2

    def kinds(self) -> list[str]:
        """Returns every card once, such as `R1`, in the order of chance's outcomes."""
        return [f"{colour}{rank}" for colour in self.letters for rank in range(1, self.ranks + 1)]

    def deck(self) -> dict[str, int]:
        """Returns how many of each card there are."""
        return {card: self.copies(int(card[1])) for card in self.kinds()}


def config(
    players: int, colours: int = 5, ranks: int = 5, hand: int | None = None, info: int = 8, lives: int = 3
) -> HanabiSizes:
    """Returns checked sizes.

    Args:
        players: 2 to 5.
        colours: 1 to 5.
        ranks: 1 to 5.
        hand: cards in a full hand; None for 5 with two or three players, else 4.
        info: information tokens.
        lives: life tokens.

    Raises:
        GameError: OpenSpiel's engine cannot play with these sizes.
    """
    sizes = HanabiSizes(players, colours, ranks, (5 if players < 4 else 4) if hand is None else hand, info, lives)
    bounds = {
        "players": (PLAYERS[0], PLAYERS[-1]),
        "colours": (1, len(COLOURS)),
        "ranks": (1, MOST_RANKS),
        "hand": (1, sum(HanabiSizes(2).deck().values())),
        "info": (1, MOST_TOKENS),
        "lives": (1, MOST_TOKENS),
    }
    for name, (low, high) in bounds.items():
        given = getattr(sizes, name)
        if type(given) is not int or not low <= given <= high:
            raise GameError(f"Hanabi with {name}={given!r}: {name} is a whole number from {low} to {high}.")
    cards = sum(sizes.deck().values())
    if sizes.hand * players > cards:
        raise GameError(
            f"Hanabi with hand={sizes.hand} and players={players} deals {sizes.hand * players} cards, but the deck has "
            f"{cards}: choose a smaller hand, or more colours or ranks."
        )
    return sizes


VARIANTS: Final[Mapping[str, HanabiSizes]] = {
    "hanabi-2p": config(2),
    "hanabi-3p": config(3),
    "hanabi-4p": config(4),
    "hanabi-5p": config(5),
    "hanabi-mini-2p": config(2, 3, 3, 3, 5, 3),
    "hanabi-small-2p": config(2, 2, 5, 2, 3, 1),
    "hanabi-tiny-2p": config(2, 1, 5, 2, 3, 1),
}
"""By id: the games in the shops, one with three colours and ranks, and the two that the engine's authors call small."""


def play(slot: int) -> Action:
    """Returns the action that plays a card."""
    return f"(Play {slot})"


def discard(slot: int) -> Action:
    """Returns the action that discards a card."""
    return f"(Discard {slot})"


def hint(offset: int, value: str) -> Action:
    """Returns the action that tells the player so many seats on of a colour, `R`, or of a rank, `1`."""
    return f"(Reveal player +{offset} {'rank' if value.isdigit() else 'color'} {value})"


def deal(card: str) -> Action:
    """Returns chance's action that deals a card."""
    return f"(Deal {card})"
