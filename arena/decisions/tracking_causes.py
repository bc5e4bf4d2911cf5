"""Why a deduction is wrong: what somebody who made one known kind of mistake would have said."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from games.tracking import Tracked, TrackedEvent

Values: TypeAlias = frozenset[str]
"""Letters and digits that a card may have."""
Claims: TypeAlias = Mapping[int, Sequence[Values]]
"""By player, what was said of each card of its hand."""
Place: TypeAlias = tuple[int, int]
"""Player and slot."""
Leave: TypeAlias = Callable[[list[Values], TrackedEvent, Values], list[Values]]
"""What becomes of a hand that a card leaves, given what a new card may be."""

MISSED_POSITIVE: Final = "missed positive"
MISSED_NEGATIVE: Final = "missed negative"
FORGOTTEN: Final = "forgotten"
NO_SHIFT: Final = "no shift"
STALE: Final = "stale new card"
INVENTED: Final = "invented"
WRONG_PLAYER: Final = "wrong player"
WRONG_LENGTH: Final = "wrong length"
CARRIED: Final = "carried"

CAUSES: Final[Mapping[str, str]] = {
    MISSED_POSITIVE: "a hint since the own last turn that named the card is not heard",
    MISSED_NEGATIVE: "a hint since the own last turn that passed the card over is not heard",
    FORGOTTEN: "what was known at the own last turn is lost",
    NO_SHIFT: "a card left the hand, and the others stayed where they were",
    STALE: "a new card is taken for an old one",
    INVENTED: "something possible is ruled out by nothing",
    WRONG_PLAYER: "what was told of one player's hand is said of another's",
    WRONG_LENGTH: "the hand has another number of cards",
    CARRIED: "the answer before was wrong in the same way",
}
"""Every cause and what it means."""


def explain(truth: Tracked, claimed: Claims, previous: Claims | None) -> dict[Place, frozenset[str]]:
    """Returns the causes of every wrong slot; a slot may have several.

    Args:
        truth: of the decision.
        claimed: what was said.
        previous: what was said at the own last decision, None if nothing was.
    """
    hands = [[frozenset(slot.possible) for slot in hand] for hand in truth.hands]
    found: dict[Place, frozenset[str]] = {}
    partly: dict[Place, _Hand] = {}
    misdirected: set[int] = set()
    for player, hand in enumerate(hands):
        said = claimed.get(player, ())
        if len(said) != len(hand):
            found |= {(player, slot): frozenset({WRONG_LENGTH}) for slot in range(len(hand))}
            continue
        reading = _Hand(truth, hands, player, said, (previous or {}).get(player))
        wrong = [slot for slot, values in enumerate(hand) if said[slot] != values]
        carried = [slot for slot in wrong if reading.is_carried(slot)]
        found |= {(player, slot): frozenset({CARRIED}) for slot in carried}
        wrong = [slot for slot in wrong if slot not in carried]
        whole = reading.whole(wrong) if wrong else None
        if whole is None:
            partly |= {(player, slot): reading for slot in wrong}
        else:
            found |= {(player, slot): frozenset({whole}) for slot in wrong}
        if whole == WRONG_PLAYER:
            misdirected |= reading.misdirected()
        misdirected |= {event for slot in wrong if whole is None for event in reading.heard_in(slot)}
    # Last: a hint that is said of another hand is not missed in its own.
    return found | {
        place: reading.excess(place[1]) | reading.lacks(place[1], misdirected) for place, reading in partly.items()
    }


class _Hand:
    """What was said of one player's hand, and what mistakes would have made of it."""

    def __init__(
        self,
        truth: Tracked,
        hands: Sequence[Sequence[Values]],
        player: int,
        said: Sequence[Values],
        previous: Sequence[Values] | None,
    ) -> None:
        self._truth = truth
        self._hands = hands
        self._player = player
        self._said = said
        self._hand = hands[player]
        self._events = [event for event in truth.events if event.player == player]
        before = [frozenset(slot.possible) for slot in truth.before[player]]
        given = previous is not None and len(previous) == len(before)
        self._previous = list(previous) if given and previous is not None else None
        self._bases = [before, *([self._previous] if self._previous is not None else [])]
        old = {slot.card for slot in truth.before[player]}
        self._new = [slot.card not in old for slot in truth.hands[player]]

    def is_carried(self, slot: int) -> bool:
        """Whether the slot is what the answer before gives, if it is brought up to date rightly."""
        if self._previous is None:
            return False
        return self._said[slot] == _advanced(self._truth, self._previous, self._events, _shifted)[slot]

    def whole(self, wrong: Sequence[int]) -> str | None:
        """Returns the one cause that explains all wrong slots of the hand together, None if there is none."""
        if any(not self._new[slot] for slot in wrong) and list(self._said) in self._unshifted():
            return NO_SHIFT
        if all(self._new[slot] and self._is_stale(slot) for slot in wrong):
            return STALE
        others = [list(hand) for player, hand in enumerate(self._hands) if player != self._player]
        # Of a hand of which nothing is said, nobody else's was spoken of.
        if list(self._said) in others and any(self._hand[slot] - self._said[slot] for slot in wrong):
            return WRONG_PLAYER
        return WRONG_PLAYER if self.misdirected() else None

    def misdirected(self) -> set[int]:
        """Returns the numbers of the hints to others which, heard for this hand, explain all that is said of it."""
        return {number for number, event in self._to_others() if list(self._said) in self._heard(event)}

    def heard_in(self, slot: int) -> set[int]:
        """Returns the numbers of the hints to others that name a slot of this number and explain what it rules out."""
        if self._hand[slot] <= self._said[slot]:
            return set()
        return {
            number
            for number, event in self._to_others()
            if slot in event.slots and self._said[slot] == self._heard(event)[0][slot]
        }

    def _to_others(self) -> list[tuple[int, TrackedEvent]]:
        events = enumerate(self._truth.events)
        return [(number, event) for number, event in events if event.value and event.player != self._player]

    def excess(self, slot: int) -> frozenset[str]:
        """Returns the cause of what a slot rules out though it is possible; none if it rules out nothing such."""
        excess = self._hand[slot] - self._said[slot]
        if not excess:
            return frozenset()
        earlier = self._earlier(slot)
        if earlier is not None and not excess & earlier:
            return frozenset({CARRIED})
        if self.heard_in(slot):
            return frozenset({WRONG_PLAYER})
        return frozenset({STALE if self._new[slot] and self._is_stale(slot) else INVENTED})

    def lacks(self, slot: int, misdirected: set[int]) -> frozenset[str]:
        """Returns the causes of what a slot leaves possible though it is ruled out.

        Args:
            slot: which.
            misdirected: numbers of the hints that are said of another hand.
        """
        known, earlier = self._truth.hands[self._player][slot], self._earlier(slot)
        found = set()
        for value in self._said[slot] - frozenset(known.possible):
            origin = known.origins.get(value)
            if origin is None or origin.event is None:
                found.add(FORGOTTEN if earlier is None or value not in earlier else CARRIED)
            elif origin.event in misdirected:
                found.add(WRONG_PLAYER)
            else:
                found.add(MISSED_POSITIVE if origin.told else MISSED_NEGATIVE)
        return frozenset(found)

    def _earlier(self, slot: int) -> Values | None:
        """Returns what was said of this card before, None if nothing was."""
        cards = [known.card for known in self._truth.before[self._player]]
        card = self._truth.hands[self._player][slot].card
        return self._previous[cards.index(card)] if self._previous is not None and card in cards else None

    def _heard(self, event: TrackedEvent) -> list[list[Values]]:
        """Returns the hand after a hint to somebody else, heard wholly, and heard of the named slots alone."""
        wholly = _hinted(self._truth, self._hand, event)
        named = [after if slot in event.slots else self._hand[slot] for slot, after in enumerate(wholly)]
        return [wholly, named]

    def _unshifted(self) -> list[list[Values]]:
        """Returns the hands of somebody for whom no card moves when one leaves."""
        found = [
            _advanced(self._truth, base, self._events, way) for base in self._bases for way in (_stayed, _replaced)
        ]
        return [hand for hand in found if len(hand) == len(self._hand) and hand != list(self._hand)]

    def _is_stale(self, slot: int) -> bool:
        """Whether a new card is said to be the card that left, or the last one before, with the hints since it came."""
        if self._hand[slot] <= self._said[slot]:
            return False
        dealt = max(number for number, event in enumerate(self._events) if event.dealt)
        later, width = self._events[dealt + 1 :], len(self._hand)
        for base in self._bases:
            held = _advanced(self._truth, base, self._events[:dealt], _shifted)
            for old in (held[self._events[dealt].slots[0]], held[-1]):
                if _advanced(self._truth, [old] * width, later, _shifted)[slot] == self._said[slot]:
                    return True
        return False


def _hinted(truth: Tracked, hand: Sequence[Values], event: TrackedEvent) -> list[Values]:
    """Returns a hand after a hint."""
    kind = frozenset(truth.colours if event.value in truth.colours else truth.ranks)
    # In a game where a card is looked at, the others are not passed over.
    passes = frozenset(event.value) if truth.ranks else frozenset()
    return [
        (values - kind) | {event.value} if slot in event.slots else values - passes for slot, values in enumerate(hand)
    ]


def _advanced(truth: Tracked, hand: Sequence[Values], events: Sequence[TrackedEvent], leave: Leave) -> list[Values]:
    """Returns a hand after events of its own."""
    now = list(hand)
    for event in events:
        now = _hinted(truth, now, event) if event.value else leave(now, event, frozenset(truth.values))
    return now


def _shifted(hand: list[Values], event: TrackedEvent, new: Values) -> list[Values]:
    place = event.slots[0]
    return [*hand[:place], *hand[place + 1 :], *([new] if event.dealt else [])]


def _stayed(hand: list[Values], event: TrackedEvent, new: Values) -> list[Values]:
    return hand if event.dealt else hand[:-1]


def _replaced(hand: list[Values], event: TrackedEvent, new: Values) -> list[Values]:
    place = event.slots[0]
    return [*hand[:place], new, *hand[place + 1 :]] if event.dealt else hand[:-1]
