"""How well players keep track of what can be known of cards: their deductions, slot by slot, against the truth."""

import importlib
import importlib.util
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from arena.decisions import walk
from arena.decisions.tracking_causes import Claims, explain
from arena.decisions.walk import PlayedFolder, TakenDecision
from arena.language_players.turn_record import DeducedSlot
from arena.usage import UsageError
from games import registry
from games.api import Action, Observation, UnknownGameError, state_to_json
from games.tracking import Tracked

OLDEST: Final = 5
"""Facts that are older, in own turns, count as of this age."""


@dataclass
class Share:
    """How many of all are right.

    Attributes:
        right: so many.
        n: of so many.
    """

    right: int = 0
    n: int = 0

    @property
    def value(self) -> float | None:
        """The share, None of nothing."""
        return self.right / self.n if self.n else None

    def count(self, right: int, n: int = 1) -> None:
        """Adds some more."""
        self.right += right
        self.n += n

    def to_json(self) -> dict[str, Any]:
        return {"share": self.value, "right": self.right, "n": self.n}


@dataclass
class Tracking:
    """Figures over many deductions.

    Attributes:
        who: whose.
        decisions: deductions that could be read.
        unread: decisions without one.
        exact: slots of which colours and ranks are right to the last.
        precision: of values that were ruled out, those that are ruled out in truth.
        recall: of values that are ruled out in truth, those that were.
        touched: exact ones of the slots that changed since the own last turn: by a hint, a shift or a new card.
        not_invented: slots that rule out nothing that is possible.
        card_kept: slots that do not rule out the card that lies there.
        quality: slots that lost nothing right since the answer before and ruled out nothing wrong anew.
        by_age: recall by age of the fact, in own turns; the oldest together.
        causes: of wrong slots; one may have several.
    """

    who: str
    decisions: int = 0
    unread: int = 0
    exact: Share = field(default_factory=Share)
    precision: Share = field(default_factory=Share)
    recall: Share = field(default_factory=Share)
    touched: Share = field(default_factory=Share)
    not_invented: Share = field(default_factory=Share)
    card_kept: Share = field(default_factory=Share)
    quality: Share = field(default_factory=Share)
    by_age: dict[int, Share] = field(default_factory=dict)
    causes: Counter[str] = field(default_factory=Counter)

    @property
    def four(self) -> tuple[float | None, ...]:
        """The paper's four numbers as exact ones: accuracy, history, quality, and the mean of those that there are."""
        three = [self.exact.value, self.touched.value, self.quality.value]
        known = [value for value in three if value is not None]
        return (*three, sum(known) / len(known) if known else None)

    def to_json(self) -> dict[str, Any]:
        shares = ("exact", "precision", "recall", "touched", "not_invented", "card_kept", "quality")
        return {
            "who": self.who,
            "decisions": self.decisions,
            "unread": self.unread,
            **{name: getattr(self, name).to_json() for name in shares},
            "by_age": {str(age): share.to_json() for age, share in sorted(self.by_age.items())},
            "causes": dict(self.causes.most_common()),
            "four": dict(zip(FOUR, self.four, strict=True)),
        }


FOUR: Final = ("accuracy", "history", "quality", "overall")
"""What the paper's judge gives, in [0, 1]."""


@dataclass(frozen=True)
class Checked:
    """One deduction beside the truth.

    Attributes:
        decision: where it was made.
        truth: what can be known there.
        claimed: what was said; None if nothing could be read.
        previous: what was said at the own last decision.
        cards: what lies in the slots.
    """

    decision: TakenDecision
    truth: Tracked
    claimed: Claims | None
    previous: Claims | None
    cards: Sequence[Sequence[str]]


def checked(place: PlayedFolder, agents: Sequence[str] = ()) -> Iterator[Checked]:
    """Yields the decisions of players who deduce, with the truth, game by game.

    A player deduces if one of its decisions in the game holds a deduction.

    Args:
        place: the games.
        agents: names of those that count; none: all.

    Raises:
        UsageError: the game says nothing of what can be tracked.
        RecordError: a record does not agree with the rules.
    """
    with place.opened() as game:
        tracking = tracking_of(game.info.id)
        for key, record in place.games.items():
            taken = list(walk.with_states(game, key, record))
            deduces = {item.seat for item, _ in taken if item.kept is not None and item.kept.deduction is not None}
            histories: dict[int, list[tuple[Observation, Action | None]]] = {}
            said: dict[int, Claims | None] = {}
            for decision, state in taken:
                seat = decision.seat
                own = histories.setdefault(seat, [])
                shown = game.observations(state)[seat]
                if seat in deduces and (not agents or decision.agent in agents):
                    truth = tracking.tracked([*own, (shown, None)])
                    kept = None if decision.kept is None else decision.kept.deduction
                    claimed = None if kept is None else claims_of(kept)
                    yield Checked(decision, truth, claimed, said.get(seat), tracking.held(state_to_json(game, state)))
                    said[seat] = claimed
                own.append((shown, decision.action))


def tracking_of(game_id: str) -> Any:
    """Returns the module that says what can be known in a game.

    Raises:
        UsageError: the game has none.
    """
    try:
        package = registry.describe(game_id).package
    except UnknownGameError:  # a synthesised model of a user's own game
        package = None
    if not package or importlib.util.find_spec(f"{package}.tracking") is None:
        raise UsageError(f"{game_id} does not say what players can know of its cards: there is nothing to check.")
    return importlib.import_module(f"{package}.tracking")


def claims_of(deduction: Iterable[DeducedSlot]) -> Claims:
    """Returns a deduction by player and slot; of a slot that is left out, and of one said twice, nothing fits."""
    hands: dict[int, list[frozenset[str]]] = {}
    for slot in sorted(deduction, key=lambda slot: (slot.player, slot.slot)):
        hands.setdefault(slot.player, []).append(frozenset(slot.colours + slot.ranks))
    return hands


def true_deduction(truth: Tracked) -> tuple[DeducedSlot, ...]:
    """Returns what a player says that tracks all without a mistake."""
    return tuple(
        DeducedSlot(player, number, slot.colours, slot.ranks)
        for player, hand in enumerate(truth.hands)
        for number, slot in enumerate(hand)
    )


def figures(found: Iterable[Checked]) -> list[Tracking]:
    """Returns the figures by agent, and by scaffold where it has one, by name."""
    tallies: dict[str, Tracking] = {}
    for item in found:
        scaffold = item.decision.scaffold
        who = item.decision.agent if scaffold is None else f"{item.decision.agent} ({scaffold})"
        add(tallies.setdefault(who, Tracking(who)), item)
    return [tallies[who] for who in sorted(tallies)]


def add(tally: Tracking, item: Checked) -> None:
    """Counts one deduction."""
    if item.claimed is None:
        tally.unread += 1
        return
    tally.decisions += 1
    values = frozenset(item.truth.values)
    for player, hand in enumerate(item.truth.hands):
        said = item.claimed.get(player, ())
        aligned = len(said) == len(hand)
        for number in range(len(hand)):
            # A hand of another length says nothing of any slot.
            _add_slot(tally, item, (player, number), said[number] if aligned else values, aligned)
    for causes in explain(item.truth, item.claimed, item.previous).values():
        tally.causes.update(causes)


def _add_slot(tally: Tracking, item: Checked, place: tuple[int, int], said: frozenset[str], aligned: bool) -> None:
    player, number = place
    slot = item.truth.hands[player][number]
    values, possible = frozenset(item.truth.values), frozenset(slot.possible)
    is_exact = aligned and said == possible
    tally.exact.count(is_exact)
    tally.precision.count(len(values - said - possible), len(values - said))
    tally.recall.count(len(values - said - possible), len(values - possible))
    tally.not_invented.count(possible <= said)
    card = item.cards[player][number]
    tally.card_kept.count(set(card) <= said)
    if _changed(item.truth, player, number):
        tally.touched.count(is_exact)
    for value in values - possible:
        origin = slot.origins.get(value)
        age = OLDEST if origin is None else min(origin.age, OLDEST)
        tally.by_age.setdefault(age, Share()).count(value not in said)
    tally.quality.count(aligned and _is_kept_up(item, place, said))


def _changed(truth: Tracked, player: int, number: int) -> bool:
    """Whether a slot holds another card than at the own last turn, or one of which more is known."""
    before = truth.before[player]
    now = truth.hands[player][number]
    return number >= len(before) or before[number].card != now.card or before[number].possible != now.possible


def _is_kept_up(item: Checked, place: tuple[int, int], said: frozenset[str]) -> bool:
    """Whether a slot lost nothing right that was said of this card before, and rules out nothing wrong anew."""
    player, number = place
    truth = item.truth.hands[player][number]
    values, possible = frozenset(item.truth.values), frozenset(truth.possible)
    before = [slot.card for slot in item.truth.before[player]]
    previous = (item.previous or {}).get(player, ())
    earlier = values
    if truth.card in before and len(previous) == len(before):
        earlier = previous[before.index(truth.card)]
    lost = (values - earlier - possible) & said
    invented = (possible - said) & earlier
    return not lost and not invented


def one(item: Checked) -> Tracking:
    """Returns the figures of one deduction."""
    tally = Tracking("")
    add(tally, item)
    return tally
