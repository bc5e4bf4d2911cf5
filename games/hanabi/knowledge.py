"""What everybody knows of every card in hands, from the public events alone. Standard library alone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from games.hanabi.belief import Mask
from games.hanabi.config import HanabiSizes
from games.hanabi.events import DISCARDED, HINTED, parse


@dataclass
class Known:
    """What hints have told of one card.

    Attributes:
        number: the card was the so manieth that chance dealt, from 0.
        colours: letters still possible.
        ranks: digits still possible.
        told_colour: the letter that a hint named, or None.
        told_rank: the rank that a hint named, or None.
    """

    number: int
    colours: str
    ranks: str
    told_colour: str | None = None
    told_rank: int | None = None

    @property
    def mask(self) -> Mask:
        return self.colours, self.ranks

    def hear(self, value: str, touched: bool) -> None:
        """Takes in a hint that has touched the card, or has passed it over."""
        if value.isdigit():
            self.ranks = value if touched else self.ranks.replace(value, "")
            self.told_rank = int(value) if touched else self.told_rank
        else:
            self.colours = value if touched else self.colours.replace(value, "")
            self.told_colour = value if touched else self.told_colour


class Course:
    """A game as everybody can follow it: which card lies where, by the order in which chance dealt them.

    Attributes:
        hands: by player, oldest card first.
        dealt: how many cards chance has dealt.
    """

    def __init__(self, sizes: HanabiSizes) -> None:
        """Begins after the first deal."""
        self._sizes: Final = sizes
        self._cards: Final = sum(sizes.deck().values())
        self.dealt = 0
        self.hands: list[list[Known]] = [[] for _ in range(sizes.players)]
        for hand in self.hands:
            for _ in range(sizes.hand):
                self._deal(hand)

    def follow(self, event: Mapping[str, Any]) -> bool:
        """Takes in a move and returns whether chance deals a card after it."""
        if event["result"] == HINTED:
            value = parse(event["action"]).value
            for slot, known in enumerate(self.hands[event["to"]]):
                known.hear(value, slot in event["slots"])
            return False
        hand = self.hands[event["player"]]
        del hand[event["slots"][0]]
        perfect = event["result"] != DISCARDED and sum(event["fireworks"].values()) == self._sizes.perfect
        if self.dealt == self._cards or not event["lives"] or perfect:
            return False
        self._deal(hand)
        return True

    def _deal(self, hand: list[Known]) -> None:
        ranks = "".join(str(rank) for rank in range(1, self._sizes.ranks + 1))
        hand.append(Known(self.dealt, self._sizes.letters, ranks))
        self.dealt += 1


def knowledge(sizes: HanabiSizes, events: Iterable[Mapping[str, Any]], player: int) -> list[Known]:
    """Returns what hints have told of the hand of `player`, oldest card first.

    Args:
        sizes: of the game.
        events: all moves since the first deal, oldest first.
        player: whose hand.
    """
    course = Course(sizes)
    for event in events:
        course.follow(event)
    return course.hands[player]
