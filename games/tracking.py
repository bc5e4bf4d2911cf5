"""What a player can know of cards, and since when: the truth that deductions are held against.

A game that can be tracked has a module `tracking` in its folder with `tracked(history) -> Tracked` and
`held(state_json) -> hands of true cards`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Origin:
    """How a value was ruled out for a card.

    Attributes:
        age: how many own decisions ago; 0: since the last own one.
        told: whether the card was named, so that all other values fell away; else it was passed over.
        event: which of `Tracked.events` did it, None if it is older.
    """

    age: int
    told: bool
    event: int | None = None


@dataclass(frozen=True)
class TrackedSlot:
    """One card at its place.

    Attributes:
        card: which card it is; the same number at another time is the same card.
        colours: letters that are possible, in the game's order.
        ranks: digits that are possible, rising; "" in games without ranks.
        origins: of every value that is ruled out.
    """

    card: int
    colours: str
    ranks: str
    origins: Mapping[str, Origin] = field(default_factory=dict)

    @property
    def possible(self) -> str:
        return self.colours + self.ranks


@dataclass(frozen=True)
class TrackedEvent:
    """What happened to a hand between two decisions.

    Attributes:
        player: whose hand.
        value: what was told of it, a letter or a digit; "" where a card left it.
        slots: the cards that a hint named, or the place of the card that left.
        dealt: whether a new card came in its place, as the last one.
    """

    player: int
    value: str
    slots: tuple[int, ...]
    dealt: bool = False


@dataclass(frozen=True)
class Tracked:
    """One decision point.

    Attributes:
        player: who decides.
        hands: by player, as everybody can know them now; () for a player of whom nothing is tracked.
        before: the same at the player's last own decision, or at the start.
        events: what happened in between, in order.
        colours: all letters.
        ranks: all digits.
    """

    player: int
    hands: tuple[tuple[TrackedSlot, ...], ...]
    before: tuple[tuple[TrackedSlot, ...], ...]
    events: tuple[TrackedEvent, ...]
    colours: str
    ranks: str

    @property
    def values(self) -> str:
        return self.colours + self.ranks
