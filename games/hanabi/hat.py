"""A bot for five players whose every hint tells all four others at once what to do: the recommendation strategy.

After Cox et al. (2015), as their text tells it, written anew. Each hand has a recommendation, a number from 0 to 7,
which everybody but its holder can work out; a hint's code is their sum modulo 8, so that each reads its own.
"""

from collections.abc import Sequence
from typing import Final

from games.api import Action, GameError, ObsActionHistory
from games.hanabi.config import discard, play
from games.hanabi.events import FAILED, HINTED, PLAYED, parse
from games.hanabi.knowledge import Course
from games.hanabi.mind import Event, Mind, moved, sizes_of

PLAYERS: Final = 5
HAND: Final = 4
CODES: Final = 2 * HAND
_MOST_ERRORS: Final = 2
"""So many lives lost in all, and nobody relies any more on a recommendation that a play may have outdated."""


class Hat(Mind):
    """Hears every hint as a code.

    Attributes:
        told: by player, the latest recommendation, from the slots at that time; None for none, or done.
        played: cards played since the latest hint.
        errors: cards played wrongly.
    """

    def __init__(self, history: ObsActionHistory) -> None:
        sizes = sizes_of(history)
        if (sizes.players, sizes.hand) != (PLAYERS, HAND):
            raise GameError(f"the bot hat plays with {PLAYERS} players and {HAND} cards in hand; choose hanabi-5p.")
        self._cards = cards_of_others(history)
        self.told: list[int | None] = [None] * PLAYERS
        self.played = self.errors = 0
        super().__init__(history)

    def hear(self, event: Event) -> None:
        if event["result"] != HINTED:
            self.told[event["player"]] = None
            self.played += event["result"] == PLAYED
            self.errors += event["result"] == FAILED
            return
        self.played = 0
        parsed = parse(event["action"])
        code = parsed.offset - 1 + (0 if parsed.value.isdigit() else HAND)
        giver = event["player"]
        others = [seat for seat in range(PLAYERS) if seat not in (giver, self.player)]
        known = {seat: self._recommended(seat) for seat in others}
        for seat, number in known.items():
            self.told[seat] = number
        if giver != self.player:
            self.told[self.player] = (code - sum(known.values())) % CODES

    def choose(self, legal: Sequence[Action]) -> Action:
        """Returns the move."""
        told = self.told[self.player]
        size = min(HAND, len(self.own))
        in_time = self.played == 0 or (self.played == 1 and self.errors < _MOST_ERRORS)
        if told is not None and told < size and in_time:
            return play(told)
        if self.info:
            return self._hint()
        slot = told - HAND if told is not None and HAND <= told < HAND + size else 0
        return discard(slot) if discard(slot) in legal else legal[0]

    def _hint(self) -> Action:
        code = sum(self._recommended(seat) for seat in self.others()) % CODES
        by_rank = code < HAND
        return next(action for action, value, _ in self.hints(self.others()[code % HAND]) if value.isdigit() == by_rank)

    def _recommended(self, seat: int) -> int:
        """Returns what a hand had best do: 0 to 3 to play a slot, 4 to 7 to discard one."""
        hand = [self._cards[known.number] for known in self.course.hands[seat]]
        fitting = [
            (card[1] != str(self.sizes.ranks), card[1], slot) for slot, card in enumerate(hand) if self.fits(card)
        ]
        if fitting:
            return min(fitting)[2]
        dead = [slot for slot, card in enumerate(hand) if self.is_worthless(card)]
        twice = [slot for slot, card in enumerate(hand) if card in hand[:slot]]
        spare = [(-int(card[1]), slot) for slot, card in enumerate(hand) if not self.is_last_copy(card)]
        return HAND + (dead or twice or [slot for _, slot in sorted(spare)] or [0])[0]


def cards_of_others(history: ObsActionHistory) -> dict[int, str]:
    """Returns every card that the player has seen, by when it was dealt."""
    course, cards = Course(sizes_of(history)), dict[int, str]()
    for shown, _ in history:
        for event in shown["recent"]:
            if event["card"] is not None:
                cards[moved(course, event).number] = event["card"]
            course.follow(event)
        for hand, seen in zip(course.hands, shown["hands"], strict=True):
            cards.update((known.number, slot["card"]) for known, slot in zip(hand, seen, strict=True) if slot["card"])
    return cards
