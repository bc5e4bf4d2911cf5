"""Two bots with one convention: a hint says that all cards that it names can be played now.

They follow the published descriptions of SimpleBot and ValueBot (Arthur O'Dwyer), written anew.
"""

from collections.abc import Sequence
from copy import copy
from typing import ClassVar

from games.api import Action, ObsActionHistory
from games.hanabi.config import HanabiSizes, discard, play
from games.hanabi.events import HINTED, PLAYED
from games.hanabi.knowledge import Known
from games.hanabi.mind import Event, Mind, moved, touched


class Simple(Mind):
    """Plays what is flagged, flags what can be played, else discards its oldest card.

    Attributes:
        flags: by the card's number, the rank that a flagged card must have.
        notices: whether it gives no hint as helpful by which a player passes, and which nobody would heed.
    """

    notices: ClassVar[bool] = True

    def __init__(self, history: ObsActionHistory, sizes: HanabiSizes | None = None) -> None:
        self.flags: dict[int, int] = {}
        super().__init__(history, sizes)

    def hear(self, event: Event) -> None:
        if event["result"] == HINTED:
            value, cards = touched(self.course, event)
            if not self._says_nothing(event, value):
                self._flag(value, cards)
            return
        self.flags.pop(moved(self.course, event).number, None)
        if event["result"] == PLAYED:
            self._unflag(event["card"])

    def choose(self, legal: Sequence[Action]) -> Action:
        """Returns the move."""
        flagged = [
            (self.flags[known.number], slot) for slot, known in enumerate(self.own) if known.number in self.flags
        ]
        if flagged:
            return play(min(flagged)[1])
        hints = self._helpful() if self.info else []
        if hints:
            return max(hints, key=lambda counted: counted[0])[1]
        return self._pass(legal)

    def _flag(self, value: str, cards: Sequence[Known]) -> None:
        for known in cards:
            self.flags[known.number] = int(value) if value.isdigit() else self.piles[value] + 1

    def _unflag(self, card: str) -> None:
        """Takes the flag from every card that may be the one just played; of the last rank there is one alone."""
        if int(card[1]) == self.sizes.ranks:
            return
        for hand in self.course.hands:
            for known in hand:
                same = known.told_colour in (None, card[0])
                if self.flags.get(known.number) == int(card[1]) and same:
                    del self.flags[known.number]

    def _says_nothing(self, event: Event, value: str) -> bool:
        """Returns whether a hint is the one by which a player passes while nobody may discard."""
        right = (event["player"] - 1) % self.sizes.players
        return self.info == self.sizes.info and value.isdigit() and event["to"] == right and 0 in event["slots"]

    def _helpful(self, seats: Sequence[int] = ()) -> list[tuple[int, Action]]:
        """Returns how many cards each hint flags anew that names no card that cannot be played."""
        found = []
        for seat in seats or self.others():
            for action, value, slots in self.hints(seat):
                event = {"player": self.player, "to": seat, "slots": slots}
                if not (self.notices and self._says_nothing(event, value)):
                    count = self._flagged_anew(seat, value, slots)
                    found += [(count, action)] if count else []
        return found

    def _flagged_anew(self, seat: int, value: str, slots: Sequence[int]) -> int:
        hand = self.course.hands[seat]
        named = [(self.hands[seat][slot] or "", hand[slot].number) for slot in slots]
        if not all(self.fits(card) for card, _ in named):
            return 0
        return sum(number not in self.flags for _, number in named)

    def _pass(self, legal: Sequence[Action]) -> Action:
        if discard(0) in legal:
            return discard(0)
        right = (self.player - 1) % self.sizes.players
        rank = (self.hands[right][0] or "")[1:]
        return next(action for action, value, _ in self.hints(right) if value == rank)


class Valued(Simple):
    """Reads some rank hints as warnings, and knows more: what is worthless, and what others will discard.

    A rank hint that names the card that its holder would discard next, and that may be the last copy of something
    needed, says that this card is to be kept and nothing else. Any other says that all named cards can be played, but
    those of which everybody knows that they cannot. A hint by which a player passes says neither, and who gives a hint
    does not notice that it is one: with two players, who pass to the one that they warn, this brings the published
    points.

    Attributes:
        kept: numbers of cards that a warning named.
    """

    notices = False

    def __init__(self, history: ObsActionHistory, sizes: HanabiSizes | None = None) -> None:
        self.kept: set[int] = set()
        super().__init__(history, sizes)

    def hear(self, event: Event) -> None:
        if event["result"] == HINTED:
            value, _ = touched(self.course, event)
            passes = self._says_nothing(event, value)
            if not passes and self._is_warning(event["to"], value, event["slots"]):
                self.kept.add(self.course.hands[event["to"]][self._next_discard(event["to"])].number)
                return
        super().hear(event)

    def choose(self, legal: Sequence[Action]) -> Action:
        """Returns the move."""
        warning = self._warning() if self.info else None
        return super().choose(legal) if warning is None else warning

    def _flag(self, value: str, cards: Sequence[Known]) -> None:
        for known in cards:
            heard = copy(known)
            heard.hear(value, True)
            if self._may_be_played(heard):
                super()._flag(value, [known])

    def _may_be_played(self, known: Known) -> bool:
        """Returns whether a card can be played, as far as hints have named its colour and rank."""
        colour, rank = known.told_colour, known.told_rank
        return colour is None or rank is None or self.piles[colour] + 1 == rank

    def _is_known_worthless(self, known: Known) -> bool:
        colour, rank = known.told_colour, known.told_rank
        if rank is None:
            return False
        return all(self.is_worthless(f"{one}{rank}") for one in ([colour] if colour else self.sizes.letters))

    def _next_discard(self, seat: int) -> int:
        """Returns the slot that a player without anything better to do discards, -1 for none."""
        hand = self.course.hands[seat]
        if any(known.number in self.flags for known in hand):
            return -1
        worthless = (slot for slot, known in enumerate(hand) if self._is_known_worthless(known))
        others = (slot for slot, known in enumerate(hand) if known.number not in self.kept)
        return next(worthless, next(others, -1))

    def _is_warning(self, seat: int, value: str, slots: Sequence[int]) -> bool:
        if not value.isdigit() or self._next_discard(seat) not in slots:
            return False
        known = self.course.hands[seat][self._next_discard(seat)]
        return any(self.is_last_copy(colour + value) for colour in known.colours)

    def _warning(self) -> Action | None:
        """Returns what keeps the next player from discarding a last copy: something to play, or a warning."""
        seat = self.others()[0]
        slot = self._next_discard(seat)
        card = self.hands[seat][slot] if slot >= 0 else None
        if card is None or not self.is_last_copy(card):
            return None
        better = self._helpful([seat])
        if better:
            return max(better, key=lambda counted: counted[0])[1]
        return next(action for action, value, _ in self.hints(seat) if value == card[1])

    def _flagged_anew(self, seat: int, value: str, slots: Sequence[int]) -> int:
        if self._is_warning(seat, value, slots):
            return 0
        count = 0
        for slot in slots:
            known = copy(self.course.hands[seat][slot])
            known.hear(value, True)
            if self.fits(self.hands[seat][slot] or ""):
                count += known.number not in self.flags
            elif self._may_be_played(known):
                return 0
        return count

    def _pass(self, legal: Sequence[Action]) -> Action:
        slot = max(0, self._next_discard(self.player))
        return discard(slot) if discard(slot) in legal else super()._pass(legal)
