"""What a bot knows at one of its decision points, worked out of its own history as a person at the table would."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from games.api import Action, ObsActionHistory
from games.hanabi.config import HanabiSizes, hint
from games.hanabi.events import DISCARDED, FAILED, HINTED, parse
from games.hanabi.knowledge import Course, Known

Event: TypeAlias = Mapping[str, Any]
_RANKS: Final = {3: 1, 4: 2, 6: 3, 8: 4, 10: 5}
"""Ranks by the cards of one colour."""


class Mind:
    """One decision: the table as the bot sees it, and what conventions say of every card.

    Subclasses hear every event in order (`hear`), before the cards move.

    Attributes:
        player: who decides.
        sizes: of the game.
        piles: fireworks before the event that is heard, and at the end now.
        info: information tokens, likewise.
        lives: life tokens, likewise.
        course: where every card lies, and what hints have told of it.
        hands: by player, the cards that are seen; the own ones None.
        now: the observation.
    """

    def __init__(self, history: ObsActionHistory, sizes: HanabiSizes | None = None) -> None:
        self.now = history[-1][0]
        self.player: int = self.now["player"]
        self.sizes = sizes or sizes_of(history)
        self.piles = dict.fromkeys(self.now["fireworks"], 0)
        self.info, self.lives = self.sizes.info, self.sizes.lives
        self.discards: list[str] = []
        self.course = Course(self.sizes)
        self.hands: list[list[str | None]] = [[slot["card"] for slot in hand] for hand in self.now["hands"]]
        for shown, _ in history:
            for event in shown["recent"]:
                self.hear(event)
                self.course.follow(event)
                self.piles, self.info, self.lives = event["fireworks"], event["info"], event["lives"]
                if event["result"] in (DISCARDED, FAILED):
                    self.discards.append(event["card"])

    def hear(self, event: Event) -> None:
        """Takes in what an event means, before the cards move."""

    @property
    def own(self) -> list[Known]:
        return self.course.hands[self.player]

    def others(self) -> list[int]:
        """Returns the other players, the next one first."""
        return [(self.player + offset) % self.sizes.players for offset in range(1, self.sizes.players)]

    def fits(self, card: str) -> bool:
        """Returns whether a card can be played."""
        return self.piles[card[0]] + 1 == int(card[1])

    def is_worthless(self, card: str) -> bool:
        """Returns whether a card lies in the fireworks already, or can never be played any more."""
        colour, rank = card[0], int(card[1])
        return rank <= self.piles[colour] or any(
            self.discards.count(f"{colour}{below}") == self.sizes.copies(below)
            for below in range(self.piles[colour] + 1, rank)
        )

    def is_last_copy(self, card: str) -> bool:
        """Returns whether a card is needed and no other copy of it is left."""
        return (
            int(card[1]) > self.piles[card[0]]
            and not self.is_worthless(card)
            and self.discards.count(card) == self.sizes.copies(int(card[1])) - 1
        )

    def kinds(self, known: Known, seen: Mapping[str, int]) -> list[str]:
        """Returns the kinds that an own card may be, by hints and by the copies that are seen elsewhere."""
        return [
            card
            for card, copies in self.sizes.deck().items()
            if card[0] in known.colours and card[1] in known.ranks and seen.get(card, 0) < copies
        ]

    def seen(self) -> dict[str, int]:
        """Returns how many copies of each card the bot sees: discarded, played, and in others' hands."""
        counts: dict[str, int] = {}
        played = [f"{colour}{rank}" for colour, top in self.piles.items() for rank in range(1, top + 1)]
        held = [card for hand in self.hands for card in hand if card is not None]
        for card in (*self.discards, *played, *held):
            counts[card] = counts.get(card, 0) + 1
        return counts

    def hints(self, seat: int) -> list[tuple[Action, str, list[int]]]:
        """Returns action, value and named slots of every hint to another player, colours before ranks, lowest first."""
        offset = (seat - self.player) % self.sizes.players
        values = [*self.sizes.letters, *(str(rank) for rank in range(1, self.sizes.ranks + 1))]
        named = {value: [n for n, card in enumerate(self.hands[seat]) if card and value in card] for value in values}
        return [(hint(offset, value), value, slots) for value, slots in named.items() if slots]


def sizes_of(history: ObsActionHistory) -> HanabiSizes:
    """Returns the sizes of the game, as a player can tell them from its first decision point."""
    first = history[0][0]
    hands, piles = first["hands"], first["fireworks"]
    cards = first["deck_size"] + sum(map(len, hands)) + len(first["discards"]) + sum(piles.values())
    info, lives = first["info_tokens"], first["life_tokens"]
    if first["recent"]:
        event = first["recent"][0]
        # Nobody can discard before the first hint, and no rank but the last returns a token.
        info = event["info"] + (event["result"] == HINTED)
        lives = event["lives"] + (event["result"] == FAILED)
    own = len(hands[first["player"]])
    return HanabiSizes(len(hands), len(piles), _RANKS[cards // len(piles)], own, info, lives)


def touched(course: Course, event: Event) -> tuple[str, Sequence[Known]]:
    """Returns the value of a hint and the cards that it names."""
    hand = course.hands[event["to"]]
    return parse(event["action"]).value, [hand[slot] for slot in event["slots"]]


def moved(course: Course, event: Event) -> Known:
    """Returns the card that was played or discarded."""
    slot: int = event["slots"][0]
    return course.hands[event["player"]][slot]
