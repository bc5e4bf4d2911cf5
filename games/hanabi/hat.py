"""A bot for three to five players whose every hint tells all others at once something of their hands.

The information strategy, after Cox et al. (2015), written anew: everybody keeps, of every card in every hand, the kinds
that all know it may be. From these follow questions about each hand, such as which card is the first that can be
played; their answers are a number that everybody but the holder can work out. A hint's place among those that can be
given is the sum of these numbers, so that each takes away what it sees and reads its own.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from games.api import Action, GameError, ObsActionHistory
from games.hanabi.config import discard, play
from games.hanabi.events import HINTED
from games.hanabi.knowledge import Course
from games.hanabi.mind import Event, Mind, moved, sizes_of, touched

LEAST_PLAYERS: Final = 3
_SURE_HAND: Final = 4
"""In a hand of so many cards there is always a hint that passes a given card over: no kind has so many copies."""
_RISK: Final = 0.8
"""A play that is as likely as this is risked while lives are to spare."""


class _Question(NamedTuple):
    """What is asked of a hand.

    Attributes:
        slots: in order; with one mask a slot, the answer is the first whose card is among them, else their
            number; of one slot with several masks, the mask in which its card is.
        masks: sets of kinds, as bits; see `Hat.may_be`.
    """

    slots: tuple[int, ...]
    masks: tuple[int, ...]

    @property
    def size(self) -> int:
        return len(self.slots) + 1 if len(self.masks) == 1 else len(self.masks)

    def answer(self, kinds: Sequence[int]) -> int:
        """Returns the answer of a hand whose kinds are seen."""
        if len(self.masks) > 1:
            return next(number for number, mask in enumerate(self.masks) if mask & kinds[self.slots[0]])
        fitting = (number for number, slot in enumerate(self.slots) if self.masks[0] & kinds[slot])
        return next(fitting, len(self.slots))

    def apply(self, may_be: list[int], answer: int) -> None:
        """Narrows down what the cards of a hand may be."""
        if len(self.masks) > 1:
            may_be[self.slots[0]] &= self.masks[answer]
            return
        for slot in self.slots[:answer]:
            may_be[slot] &= ~self.masks[0]
        for slot in self.slots[answer : answer + 1]:
            may_be[slot] &= self.masks[0]


class Hat(Mind):
    """Hears every hint as a number.

    Attributes:
        bits: by card, those that stand for it: one for each copy, so that chances are counts of bits.
        all_bits: those of all cards.
        may_be: by the card's number, the kinds that all know it may be; all of them for one that is not there.
    """

    def __init__(self, history: ObsActionHistory) -> None:
        sizes = sizes_of(history)
        if sizes.players < LEAST_PLAYERS:
            raise GameError(
                f"the bot hat plays with {LEAST_PLAYERS} players or more, not with {sizes.players}: a hint is to tell "
                "several players at once; choose hanabi-3p, hanabi-4p or hanabi-5p."
            )
        self.bits, self.all_bits = dict[str, int](), 0
        for card, copies in sizes.deck().items():
            self.bits[card] = ((1 << copies) - 1) << self.all_bits.bit_length()
            self.all_bits |= self.bits[card]
        self._values = {
            value: sum(bit for card, bit in self.bits.items() if value in card)
            for value in (*sizes.letters, *map(str, range(1, sizes.ranks + 1)))
        }
        self._cards = cards_of_others(history)
        self.may_be: dict[int, int] = {}
        super().__init__(history)

    def hear(self, event: Event) -> None:
        if event["result"] != HINTED:
            self.may_be.pop(moved(self.course, event).number, None)
            return
        self._look()
        giver, value = event["player"], touched(self.course, event)[0]
        seats = [(giver + offset) % self.sizes.players for offset in range(1, self.sizes.players)]
        counts = [self._choices(seat) for seat in seats]
        total = sum(counts)
        place = seats.index(event["to"])
        rest = sum(counts[:place]) + self._kind_of_hint(event["to"], value, event["slots"])
        told = {}
        for seat in seats:
            if seat != self.player:
                number, told[seat] = self._told(seat, total, None)
                rest -= number
        if giver != self.player:
            told[self.player] = self._told(self.player, total, rest % total)[1]
        for seat, may_be in told.items():
            for slot, (known, mask) in enumerate(zip(self.course.hands[seat], may_be, strict=True)):
                if seat == event["to"]:
                    mask &= self._values[value] if slot in event["slots"] else ~self._values[value]
                self.may_be[known.number] = mask

    def choose(self, legal: Sequence[Action]) -> Action:
        """Returns the move."""
        self._look()
        unseen = self._copies(self.seen())
        own = [mask & unseen for mask in self._hand(self.player)]
        plays = [_share(mask, self._fitting) for mask in own]
        sure = [slot for slot, chance in enumerate(plays) if chance == 1]
        if sure:
            return play(min(sure, key=lambda slot: (self._rank(own[slot]), slot)))
        likely = max(range(len(own)), key=lambda slot: (plays[slot], -slot))
        left = self.now["final_turns"]
        if self.lives > 1 and (
            plays[likely] >= _RISK or (left is not None and plays[likely] > 0 and not self._helps())
        ):
            return play(likely)
        dead = [slot for slot, mask in enumerate(own) if _share(mask, self._dead) == 1]
        early = len(self.discards) <= self._spare()
        if dead and early and self._all_can_act() and discard(dead[0]) in legal:
            return discard(dead[0])
        if self.info:
            return self._hint()
        if dead:
            return discard(dead[0])
        return discard(min(range(len(own)), key=lambda slot: (self._loss(own[slot]), slot)))

    # ------------------------------------------------------------------ what everybody knows

    def _look(self) -> None:
        """Works out which kinds fit, which are worthless, and which copies nobody has seen played or discarded."""
        self._left = self._there = self._fitting = self._dead = self._last = 0
        for colour, top in self.piles.items():
            is_open = True
            for rank in range(1, self.sizes.ranks + 1):
                card = f"{colour}{rank}"
                bits, gone = self.bits[card], self.discards.count(card) + (rank <= top)
                left = (bits << gone) & bits
                self._left |= left
                self._there |= bits if left else 0
                if rank <= top or not is_open:
                    self._dead |= bits
                    continue
                self._fitting |= bits if rank == top + 1 else 0
                self._last |= bits if left.bit_count() == 1 else 0
                is_open = bool(left)

    def _copies(self, gone: Mapping[str, int]) -> int:
        """Returns the bits of all copies but those that are gone."""
        return sum((bits << gone.get(card, 0)) & bits for card, bits in self.bits.items())

    def _hand(self, seat: int) -> list[int]:
        """Returns what all know that the cards of a hand may be."""
        return [self.may_be.get(known.number, self.all_bits) & self._there for known in self.course.hands[seat]]

    def _public(self, mask: int, wanted: int) -> float:
        return _share(mask & self._left, wanted)

    def _question(self, may_be: Sequence[int], asked: set[int], most: int) -> _Question | None:
        """Returns the next question about a hand with `most` answers at most, None if there is none to ask."""
        chances = [self._public(mask, self._fitting) for mask in may_be]
        if not asked and 1 not in chances:
            slots = sorted(
                (slot for slot, chance in enumerate(chances) if chance), key=lambda slot: (-chances[slot], slot)
            )
            if slots:
                return _Question(tuple(slots[: most - 1]), (self._fitting,))
        open_ = [
            slot
            for slot, mask in enumerate(may_be)
            if slot not in asked and mask not in self.bits.values() and mask & ~self._dead and chances[slot] < 1
        ]
        if not open_:
            return None
        slot = max(open_, key=lambda slot: (chances[slot], -slot))
        return _Question((slot,), self._parts(may_be[slot], most))

    def _parts(self, mask: int, most: int) -> tuple[int, ...]:
        """Returns the kinds in a mask in parts: the worthless ones, then the others, those that fit soonest first."""
        live = [
            (int(card[1]) - self.piles[card[0]], card, bits)
            for card, bits in self.bits.items()
            if bits & mask & ~self._dead
        ]
        parts = [mask & self._dead] if mask & self._dead else []
        free = min(most - len(parts), len(live))
        if free <= 0:
            return (mask,)
        total = sum((self._left & bits).bit_count() for _, _, bits in live)
        split, reached = [0] * free, 0
        for _, _, bits in sorted(live):
            copies = (self._left & bits).bit_count()
            # By the middle of its share: then the first kind and the last are never in one part.
            split[(2 * reached + copies) * free // (2 * total)] |= bits
            reached += copies
        return (*parts, *filter(None, split))

    def _told(self, seat: int, total: int, number: int | None) -> tuple[int, list[int]]:
        """Returns the number of a hand, and what its cards may be once it is known.

        Args:
            seat: whose hand.
            total: the number is below this.
            number: of the own hand; None for a hand that is seen.
        """
        may_be, asked, found = self._hand(seat), set[int](), 0
        kinds = [self.bits[self._cards[known.number]] for known in self.course.hands[seat]] if number is None else []
        while total > 1:
            question = self._question(may_be, asked, total)
            if question is None:
                break
            total //= question.size
            if number is None:
                answer = question.answer(kinds)
            else:
                answer, number = divmod(number, total)
                answer = min(answer, question.size - 1)
            found += answer * total
            question.apply(may_be, answer)
            asked.update(question.slots if len(question.masks) > 1 else [-1])
        return found, may_be

    # ------------------------------------------------------------------ hints as numbers

    def _focus(self, may_be: Sequence[int]) -> int:
        """Returns the card of a hand by which hints are told apart: the one of which least is known."""
        return max(range(len(may_be)), key=lambda slot: (may_be[slot].bit_count(), -slot))

    def _choices(self, seat: int) -> int:
        """Returns how many kinds of hint can be told apart that are given to a player, whatever it holds.

        By rank and by colour, naming the focus or not: that another card differs from it in both must be known.
        """
        may_be = self._hand(seat)
        if len(may_be) < 2:
            return 2 * len(may_be)
        ranks = any(all(mask & self._values[value] for mask in may_be) for value in self._values if value.isdigit())
        colours = any(all(mask & self._values[value] for mask in may_be) for value in self.sizes.letters)
        if not ranks and not colours:
            return 4
        return 3 if len(may_be) >= _SURE_HAND or not ranks or not colours else 2

    def _kind_of_hint(self, seat: int, value: str, slots: Sequence[int]) -> int:
        focus = self._focus(self._hand(seat))
        if focus in slots:
            return 0 if value.isdigit() else 1
        return 3 if self._choices(seat) == 4 and not value.isdigit() else 2

    def _hint(self) -> Action:
        seats = self.others()
        counts = [self._choices(seat) for seat in seats]
        total = sum(counts)
        number = sum(self._told(seat, total, None)[0] for seat in seats) % total
        for seat, count in zip(seats, counts, strict=True):
            if number < count:
                fitting = [
                    (len(slots), action)
                    for action, value, slots in self.hints(seat)
                    if self._kind_of_hint(seat, value, slots) == number
                ]
                return max(fitting)[1]
            number -= count
        raise AssertionError("the number of a hint is below the sum of all choices")

    # ------------------------------------------------------------------ what the own cards may be

    def _rank(self, mask: int) -> float:
        ranks = (int(card[1]) * (bits & mask).bit_count() for card, bits in self.bits.items())
        return sum(ranks) / max(1, mask.bit_count())

    def _loss(self, mask: int) -> float:
        """Returns how much a discard would hurt."""
        lost = 3 * _share(mask, self._last) + _share(mask, self._fitting) - _share(mask, self._dead)
        return lost - 0.1 * self._rank(mask)

    def _spare(self) -> int:
        """Returns how many discards can be made before turns become scarce."""
        sizes = self.sizes
        return sum(sizes.deck().values()) - sizes.perfect - sizes.players * sizes.hand

    def _all_can_act(self) -> bool:
        """Returns whether the next player knows what to play, or to discard without loss."""
        may_be = self._hand(self.others()[0])
        return any(self._public(mask, self._fitting) == 1 or self._public(mask, self._dead) == 1 for mask in may_be)

    def _helps(self) -> bool:
        """Returns whether a hint could still lead another player to a card that fits."""
        left = self.now["final_turns"]
        seats = self.others()[: max(0, left - 1)] if left is not None else self.others()
        return bool(self.info) and any(self.fits(card) for seat in seats for card in self.hands[seat] if card)


def _share(mask: int, wanted: int) -> float:
    """Returns the chance of a card among some copies to be a wanted one."""
    return (mask & wanted).bit_count() / mask.bit_count() if mask else 0.0


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
