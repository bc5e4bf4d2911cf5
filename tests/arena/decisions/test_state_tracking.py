"""Deductions are held against the truth: nothing is wrong with the truth, and every injected mistake gets its name."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from arena.decisions import state_tracking, tracking_causes, walk
from arena.decisions.state_tracking import Share, checked, claims_of, figures, true_deduction
from arena.decisions.tracking_causes import CAUSES, Claims, Values, explain
from arena.decisions.walk import TakenDecision
from arena.language_players.turn_record import DeducedSlot, TurnRecord
from arena.usage import UsageError
from games.api import Game, State, state_to_json
from games.hanabi import tracking as of_hanabi
from games.tracking import Tracked
from tests.arena.decisions import told

INJECTED = tuple(kind for kind in CAUSES if kind != tracking_causes.CARRIED)


def histories(folder: Path, game: str, deals: int) -> Iterator[tuple[Game, State, Tracked]]:
    """Yields the decisions of games between bots with their truth."""
    bots = "partner:heuristic" if game.startswith("yokai") else "partner:simple"
    place = told.play(folder, game, deals, (bots, "random"))
    with place.opened() as made:
        module = state_tracking.tracking_of(made.info.id)
        for key, record in place.games.items():
            own: dict[int, list[object]] = {}
            for decision, state in walk.with_states(made, key, record):
                shown = made.observations(state)[decision.seat]
                past = own.setdefault(decision.seat, [])
                yield made, state, module.tracked([*past, (shown, None)])
                past.append((shown, decision.action))


@pytest.mark.parametrize("game", ["hanabi-2p", "hanabi-3p", "hanabi-tiny-2p"])
def test_the_truth_of_hanabi_is_what_the_engine_says_for_every_player_and_slot(game: str, tmp_path: Path) -> None:
    seen = 0
    for made, state, truth in histories(tmp_path, game, 1):
        hands = state_to_json(made, state)["hands"]
        assert [[(slot.colours, slot.ranks) for slot in hand] for hand in truth.hands] == [
            [("".join(slot["colours"]), "".join(map(str, slot["ranks"]))) for slot in hand] for hand in hands
        ]
        assert all(set(slot.origins) == set(truth.values) - set(slot.possible) for hand in truth.hands for slot in hand)
        assert [len(hand) for hand in of_hanabi.held(state_to_json(made, state))] == list(map(len, hands))
        seen += 1
    assert seen > 20


def test_the_truth_of_yokai_is_every_colour_that_the_player_has_looked_at(tmp_path: Path) -> None:
    looked = 0
    for made, state, truth in histories(tmp_path, "yokai-9c-2p", 1):
        colours, observed = state["colours"], state["observed"][truth.player]
        (hand,) = (hand for hand in truth.hands if hand)
        for card, slot in enumerate(hand):
            assert slot.possible == (colours[card][0].upper() if card in observed else "RGB")
        looked += len(observed)
        assert state_tracking.tracking_of(made.info.id).held(state)[truth.player][0] == colours[0][0].upper()
    assert looked


def teller(change: object = None) -> told.Says:
    """Returns what deduces the truth at every decision, or what `change` makes of it."""
    own: dict[tuple[str, int], list[object]] = {}

    def says(game: Game, decision: TakenDecision, state: State) -> TurnRecord:
        past = own.setdefault((decision.key, decision.seat), [])
        shown = game.observations(state)[decision.seat]
        truth = state_tracking.tracking_of(game.info.id).tracked([*past, (shown, None)])
        past.append((shown, decision.action))
        deduction = true_deduction(truth)
        return TurnRecord(0, None, deduction=change(truth, deduction) if callable(change) else deduction)

    return says


@pytest.mark.parametrize("game", ["hanabi-2p", "hanabi-tiny-2p", "yokai-9c-2p"])
def test_who_says_the_truth_is_right_in_every_figure(game: str, tmp_path: Path) -> None:
    agents = ("partner:heuristic",) if game.startswith("yokai") else ("partner:simple",)
    place = told.tell(told.play(tmp_path, game, 1, agents), teller())
    (found,) = figures(checked(place))
    for name in ("exact", "precision", "recall", "touched", "not_invented", "card_kept", "quality"):
        share = getattr(found, name)
        assert (share.right, share.value) == (share.n, 1.0), name
    assert all(share.value == 1.0 for share in found.by_age.values())
    assert found.four == (1.0, 1.0, 1.0, 1.0)
    assert not found.causes
    assert found.unread == 0


def test_who_never_updates_has_the_numbers_of_the_formula(tmp_path: Path) -> None:
    """Nothing is ever ruled out: exact are the slots of which nothing is known."""
    blank: Counter[str] = Counter()

    def never(truth: Tracked, deduction: tuple[DeducedSlot, ...]) -> tuple[DeducedSlot, ...]:
        for hand, before in zip(truth.hands, truth.before, strict=True):
            old = {slot.card: (place, slot.possible) for place, slot in enumerate(before)}
            for place, slot in enumerate(hand):
                is_blank = slot.possible == truth.values
                blank["slots"] += 1
                blank["blank"] += is_blank
                blank["facts"] += len(truth.values) - len(slot.possible)
                if old.get(slot.card) != (place, slot.possible):
                    blank["touched"] += 1
                    blank["touched blank"] += is_blank
        return tuple(replace(slot, colours=truth.colours, ranks=truth.ranks) for slot in deduction)

    place = told.tell(told.play(tmp_path, "hanabi-2p", 2), teller(never))
    (found,) = figures(checked(place))
    assert found.exact == Share(blank["blank"], blank["slots"])
    assert found.touched == Share(blank["touched blank"], blank["touched"])
    assert found.recall == Share(0, blank["facts"])
    assert found.precision == Share(0, 0)
    assert found.quality == Share(blank["slots"], blank["slots"])
    accuracy, history = blank["blank"] / blank["slots"], blank["touched blank"] / blank["touched"]
    assert found.four == (accuracy, history, 1.0, pytest.approx((accuracy + history + 1) / 3))
    assert set(found.causes) == {"missed positive", "missed negative", "carried"}


def test_a_decision_without_a_deduction_is_counted_apart_and_is_no_past(tmp_path: Path) -> None:
    number = iter(range(1000))

    def third(truth: Tracked, deduction: tuple[DeducedSlot, ...]) -> tuple[DeducedSlot, ...] | None:
        return None if next(number) % 3 == 2 else deduction

    place = told.tell(told.play(tmp_path, "hanabi-2p", 1), teller(third))
    (found,) = figures(checked(place))
    assert found.unread == next(number) // 3
    assert found.exact.value == 1.0
    assert not list(checked(told.play(tmp_path / "silent")))


def test_a_game_that_says_nothing_of_cards_is_refused(tmp_path: Path) -> None:
    place = told.play(tmp_path, "tic_tac_toe", 1, ("random", "random:name=b"))
    with pytest.raises(UsageError, match="tic_tac_toe does not say what players can know of its cards"):
        list(checked(place))


# Injected mistakes, made from the truth by other means than the checker's.


def sets(truth: Tracked) -> dict[int, list[Values]]:
    return {player: [frozenset(slot.possible) for slot in hand] for player, hand in enumerate(truth.hands) if hand}


def hear(values: Values, kind: str, value: str, named: bool) -> Values:
    return frozenset(value) | values - frozenset(kind) if named else values - {value}


def changed(claims: dict[int, list[Values]], player: int, slot: int, values: Values) -> Claims:
    return {**claims, player: [*claims[player][:slot], values, *claims[player][slot + 1 :]]}


def unheard(truth: Tracked, kind: str) -> Iterator[Claims]:
    """Yields a slot that lacks what one hint, or older turns, said of it."""
    for player, hand in enumerate(truth.hands):
        for number, slot in enumerate(hand):
            origins = {
                "missed positive": [one for one in slot.origins.values() if one.event is not None and one.told],
                "missed negative": [one for one in slot.origins.values() if one.event is not None and not one.told],
                "forgotten": [one for one in slot.origins.values() if one.event is None],
            }[kind]
            for origin in set(origins):
                gone = {value for value, other in slot.origins.items() if other == origin}
                yield changed(sets(truth), player, number, frozenset(slot.possible) | gone)


def unshifted(truth: Tracked) -> Iterator[Claims]:
    """Yields hands in which all cards keep their places although one before the last has left."""
    for gone in truth.events:
        if gone.value or not gone.dealt or gone.slots[0] == len(truth.before[gone.player]) - 1:
            continue
        hand = [frozenset(slot.possible) for slot in truth.before[gone.player]]
        for event in truth.events:
            if event.player == gone.player and event.value:
                kind = truth.colours if event.value in truth.colours else truth.ranks
                hand = [hear(values, kind, event.value, slot in event.slots) for slot, values in enumerate(hand)]
        claims = {**sets(truth), gone.player: hand}
        wrong = [slot for slot, values in enumerate(hand) if values != sets(truth)[gone.player][slot]]
        if wrong and wrong[0] < len(hand) - 1:
            yield claims


def stale(truth: Tracked) -> Iterator[Claims]:
    """Yields new cards that are said to be what the card that left was, or the card that was last."""
    for number, gone in enumerate(truth.events):
        if gone.value or not gone.dealt:
            continue
        place = len(truth.hands[gone.player]) - 1
        for old in (gone.slots[0], place):
            values = frozenset(truth.before[gone.player][old].possible)
            for later, event in enumerate(truth.events):
                if event.player == gone.player and event.value:
                    kind = truth.colours if event.value in truth.colours else truth.ranks
                    values = hear(values, kind, event.value, (place if later > number else old) in event.slots)
            if sets(truth)[gone.player][place] - values:
                yield changed(sets(truth), gone.player, place, values)


def invented(truth: Tracked) -> Iterator[Claims]:
    """Yields slots that rule out one value more."""
    for player, hand in enumerate(truth.hands):
        for number, slot in enumerate(hand):
            for kind in (slot.colours, slot.ranks):
                for value in kind if len(kind) > 1 else "":
                    yield changed(sets(truth), player, number, frozenset(slot.possible) - {value})


def misdirected(truth: Tracked) -> Iterator[Claims]:
    """Yields hints that are heard for another hand, in place of the own one or beside it."""
    for number, event in enumerate(truth.events):
        if not event.value:
            continue
        kind = truth.colours if event.value in truth.colours else truth.ranks
        for player, hand in sets(truth).items():
            if player == event.player:
                continue
            named = [hear(v, kind, event.value, True) if s in event.slots else v for s, v in enumerate(hand)]
            if named == hand:
                continue
            yield {**sets(truth), player: named}
            unheard_of = [
                frozenset(slot.possible) | {value for value, one in slot.origins.items() if one.event == number}
                for slot in truth.hands[event.player]
            ]
            yield {**sets(truth), player: named, event.player: unheard_of}


def of_another_length(truth: Tracked) -> Iterator[Claims]:
    for player, hand in sets(truth).items():
        yield {**sets(truth), player: hand[:-1]}
        yield {**sets(truth), player: [*hand, frozenset(truth.values)]}


def mistakes(truth: Tracked) -> dict[str, list[Claims]]:
    """Returns all that one mistake of each kind would have made of the truth."""
    made = {kind: list(unheard(truth, kind)) for kind in ("missed positive", "missed negative", "forgotten")}
    made |= {
        "no shift": list(unshifted(truth)),
        "stale new card": list(stale(truth)),
        "invented": list(invented(truth)),
    }
    return made | {"wrong player": list(misdirected(truth)), "wrong length": list(of_another_length(truth))}


def named(folder: Path, each: int) -> tuple[Counter[str], Counter[str]]:
    """Injects so many mistakes of each kind and returns, by kind, how many were made and how many got their name alone.

    What two kinds of mistakes would have made alike has no name of its own, and is not counted.
    """
    rng = random.Random("mistakes")
    tried, right = Counter[str](), Counter[str]()
    for share, game in enumerate(("hanabi-2p", "hanabi-3p", "hanabi-4p"), start=1):
        for _, _, truth in histories(folder / game, game, max(1, each // 60)):
            if all(tried[kind] >= each * share / 3 for kind in INJECTED):
                break
            found = {kind: {key(claims): claims for claims in made} for kind, made in mistakes(truth).items()}
            kinds = Counter(name for made in found.values() for name in made)
            for kind in INJECTED:
                own = [claims for name, claims in found[kind].items() if kinds[name] == 1 and claims != sets(truth)]
                for claims in rng.sample(own, min(3, len(own))) if tried[kind] < each * share / 3 else []:
                    tried[kind] += 1
                    causes = set().union(*explain(truth, claims, sets(truth_before(truth))).values())
                    right[kind] += causes == {kind}
    return tried, right


def key(claims: Claims) -> tuple[tuple[int, tuple[Values, ...]], ...]:
    return tuple((player, tuple(hand)) for player, hand in sorted(claims.items()))


def truth_before(truth: Tracked) -> Tracked:
    """Returns the truth of the own last decision, as far as an answer tells it."""
    return replace(truth, hands=truth.before)


def test_every_kind_of_injected_mistake_gets_its_name(tmp_path: Path) -> None:
    tried, right = named(tmp_path, 40)
    assert {kind: tried[kind] >= 40 for kind in INJECTED} == dict.fromkeys(INJECTED, True)
    assert {kind: right[kind] / tried[kind] >= 0.97 for kind in INJECTED} == dict.fromkeys(INJECTED, True)


@pytest.mark.slow
def test_five_hundred_injected_mistakes_of_every_kind_get_their_names_but_for_one_in_a_hundred(tmp_path: Path) -> None:
    tried, right = named(tmp_path, 500)
    assert {kind: tried[kind] >= 500 for kind in INJECTED} == dict.fromkeys(INJECTED, True)
    assert {kind: right[kind] / tried[kind] >= 0.99 for kind in INJECTED} == dict.fromkeys(INJECTED, True)


def test_a_mistake_that_was_in_the_answer_before_is_carried(tmp_path: Path) -> None:
    for _, _, truth in histories(tmp_path, "hanabi-2p", 1):
        if not truth.events or not sets(truth_before(truth)) or any(not event.value for event in truth.events):
            continue
        (value,) = random.Random(1).sample(sorted(sets(truth)[0][0]), 1)
        before = changed(sets(truth_before(truth)), 0, 0, sets(truth_before(truth))[0][0] - {value})
        claims = changed(sets(truth), 0, 0, sets(truth)[0][0] - {value})
        if any(event.player == 0 for event in truth.events) or claims == sets(truth):
            continue
        assert explain(truth, claims, before) == {(0, 0): frozenset({"carried"})}
        assert explain(truth, claims, None) == {(0, 0): frozenset({"invented"})}
        return
    raise AssertionError("no decision fits")


def test_claims_are_read_by_player_and_slot() -> None:
    slots = (DeducedSlot(1, 1, "RY", "12"), DeducedSlot(1, 0, "R", "1"), DeducedSlot(0, 0, "", "5"))
    assert claims_of(slots) == {0: [{"5"}], 1: [{"R", "1"}, {"R", "Y", "1", "2"}]}
