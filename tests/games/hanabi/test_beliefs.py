"""What is known of hands, against OpenSpiel's own text; what they may be, against listing all; samples of both."""

import itertools
import random
from collections import Counter
from fractions import Fraction

import pytest

from games.api import CHANCE, TERMINAL, GameError, Json
from games.hanabi import belief
from games.hanabi.config import VARIANTS, deal, hint, play
from games.hanabi.knowledge import Course, knowledge
from games.hanabi.reading import read
from games.hanabi.resample import public_log, resample_history, unseen_cards
from games.posterior import StatesMarginals
from tests.games.hanabi.test_game import GAMES, after, careful


def follow(name: str, count: int) -> int:
    """Compares all slots of so many games with the engine's text and returns how many slots there were."""
    game, slots = GAMES[name], 0
    for number in range(count):
        rng = random.Random(f"{name} {number}")
        state = after(game)
        course, events = Course(VARIANTS[name]), list[Json]()
        while legal := game.legal_actions(state):
            before = state
            state = game.apply_action(state, careful(game, state, rng) if number % 2 else rng.choice(legal))
            if game.current_player(before) != CHANCE:
                events.append(state.log[-1].event())
                deals = course.follow(events[-1])
                assert deals == (game.current_player(state) == CHANCE)
            if game.current_player(state) == CHANCE:
                continue
            for player, hand in enumerate(read(str(state)).hands):
                found = [(one.told_colour, one.told_rank, *one.mask) for one in course.hands[player]]
                assert found == [slot[1:] for slot in hand]
                slots += len(hand)
        assert knowledge(VARIANTS[name], events, 0) == course.hands[0]
    return slots


@pytest.mark.parametrize("name", VARIANTS)
def test_knowledge_from_events_is_that_of_open_spiel(name: str) -> None:
    assert follow(name, 2) > 50


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIANTS)
def test_knowledge_from_events_is_that_of_open_spiel_in_200_games(name: str) -> None:
    assert follow(name, 200) > 5_000


def listed(unseen: dict[str, int], masks: list[belief.Mask]) -> list[tuple[str, ...]]:
    """Returns all arrangements of the unseen cards, copies counted apart, that fit."""
    cards = [card for card, copies in unseen.items() for _ in range(copies)]
    return [
        hand
        for hand in itertools.permutations(cards, len(masks))
        if all(card[0] in colours and card[1] in ranks for card, (colours, ranks) in zip(hand, masks, strict=True))
    ]


def test_belief_is_that_of_listing_all_arrangements_in_200_cases() -> None:
    rng, compared = random.Random(7), 0
    while compared < 200:
        unseen = {card: rng.randint(0, 3) for card in rng.sample(["R1", "R2", "R3", "Y1", "Y2", "Y3"], 4)}
        masks = [
            (
                "".join(sorted(rng.sample("RY", rng.randint(1, 2)))),
                "".join(sorted(rng.sample("123", rng.randint(1, 3)))),
            )
            for _ in range(rng.randint(1, 3))
        ]
        hands = listed(unseen, masks)
        assert belief.arrangements(unseen, masks) == len(hands)
        if not hands:
            with pytest.raises(GameError, match="pass a history of one game"):
                belief.chances(unseen, masks)
            with pytest.raises(GameError, match="pass a history of one game"):
                belief.sample(unseen, masks, rng)
            continue
        counts = [Counter(hand[slot] for hand in hands) for slot in range(len(masks))]
        expected = [{card: Fraction(number, len(hands)) for card, number in slot.items()} for slot in counts]
        assert belief.chances(unseen, masks) == expected
        assert tuple(belief.sample(unseen, masks, rng)) in set(hands)
        compared += 1


def test_samples_of_a_hand_are_as_frequent_as_their_arrangements() -> None:
    unseen, masks, rng = {"R1": 3, "R2": 1, "Y1": 2}, [("RY", "12"), ("R", "12")], random.Random(1)
    hands = Counter(listed(unseen, masks))
    drawn = Counter(tuple(belief.sample(unseen, masks, rng)) for _ in range(6000))
    assert set(drawn) == set(hands)
    for hand, number in hands.items():
        assert drawn[hand] / 6000 == pytest.approx(number / hands.total(), abs=0.03)


def test_every_slot_of_a_full_hand_has_chances_that_sum_to_one() -> None:
    unseen = VARIANTS["hanabi-2p"].deck()
    found = belief.chances(unseen, [("RYGWB", "12345")] * 5)
    assert all(sum(slot.values()) == 1 for slot in found)
    assert found[0] == found[4] == {card: Fraction(copies, 50) for card, copies in unseen.items()}


def histories(name: str, count: int) -> int:
    """Resamples at the decision points of so many games, replays, and returns how often."""
    game, done = GAMES[name], 0
    for number in range(count):
        rng = random.Random(f"resample {name} {number}")
        state, own = after(game), [list[tuple[Json, str]]() for _ in range(game.info.num_players)]
        while legal := game.legal_actions(state):
            player = game.current_player(state)
            action = careful(game, state, rng) if number % 2 else rng.choice(legal)
            if player != CHANCE:
                shown = game.observations(state)[player]
                drawn = resample_history(VARIANTS[name], [*own[player], (shown, None)], player, rng)
                again = after(game, *drawn)
                assert game.observations(again)[player] == shown
                assert game.legal_actions(again) == legal
                own[player].append((shown, action))
                done += 1
            state = game.apply_action(state, action)
        for player, history in enumerate(own):
            shown = game.observations(state)[player]
            end = after(game, *resample_history(VARIANTS[name], [*history, (shown, None)], player, rng))
            assert (game.current_player(end), game.observations(end)[player]) == (TERMINAL, shown)
    return done


@pytest.mark.parametrize("name", ["hanabi-2p", "hanabi-5p", "hanabi-tiny-2p"])
def test_resampled_histories_show_the_player_the_same_also_at_the_end(name: str) -> None:
    assert histories(name, 2) > 5


@pytest.mark.slow
def test_no_history_is_rejected_in_ten_thousand_resamples() -> None:
    assert sum(histories(name, 60) for name in VARIANTS) > 10_000


def test_resampled_hands_have_the_chances_of_the_view() -> None:
    game, rng = GAMES["hanabi-mini-2p"], random.Random(2)
    state = after(game, *map(deal, ["R1", "Y1", "G3", "Y1", "R2", "G1"]), hint(1, "1"), hint(1, "1"))
    history: list[tuple[Json, str | None]] = [
        (game.observations(after(game, *map(deal, ["R1", "Y1", "G3", "Y1", "R2", "G1"])))[0], hint(1, "1"))
    ]
    history.append((game.observations(state)[0], None))
    chances = game.observation(state, 0, "counted")["hands"][0]
    drawn = [game.resample_history(history, 0, rng)[:3] for _ in range(1000)]
    for slot in range(3):
        share = Counter(actions[slot] for actions in drawn)
        expected = {card: float(Fraction(chance)) for card, chance in chances[slot]["chances"].items()}
        assert {card: share[deal(card)] / 1000 for card in expected} == pytest.approx(expected, abs=0.06)


def test_history_of_nobody_of_another_player_and_of_two_games_is_refused() -> None:
    game, rng = GAMES["hanabi-tiny-2p"], random.Random(0)
    state = after(game, *map(deal, ["R1", "R3", "R4", "R4"]))
    seen, other = game.observations(state)
    with pytest.raises(GameError, match="the history is empty"):
        game.resample_history([], 0, rng)
    with pytest.raises(GameError, match="observations of player 0 alone"):
        game.resample_history([(other, None)], 0, rng)
    state = after(game, play(0), deal("R1"), state=state)
    another = {**seen, "hands": [seen["hands"][0], [{"card": "R5"}, {"card": "R5"}]]}
    with pytest.raises(GameError, match="more cards 'R5' than there are"):
        game.resample_history([(another, None)], 0, rng)
    assert public_log([(game.observations(state)[1], None)])[0]["result"] == "played"


@pytest.mark.parametrize("name", ["hanabi-2p", "hanabi-5p", "hanabi-tiny-2p"])
def test_marginals_are_the_belief_of_the_own_hand_and_the_others_cards(name: str) -> None:
    game, uncertain = GAMES[name], 0
    assert isinstance(game, StatesMarginals)
    for seed in range(2):
        rng, state, actions = random.Random(f"marginals {seed}"), game.initial_state(), list[str]()
        own: dict[int, list[tuple[Json, None]]] = {}
        while (player := game.current_player(state)) != TERMINAL:
            if player != CHANCE:
                own.setdefault(player, []).append((game.observations(state)[player], None))
                table, sizes = read(str(state)), VARIANTS[name]
                piles = [f"{colour}{rank}" for colour, top in table.fireworks.items() for rank in range(1, top + 1)]
                others = [slot.card for seat, hand in enumerate(table.hands) if seat != player for slot in hand]
                masks = knowledge(sizes, [move.event() for move in state.log], player)
                chances = belief.chances(
                    unseen_cards(sizes, [*others, *table.discards, *piles]), [known.mask for known in masks]
                )
                found, parts = game.marginals(own[player], player), game.hidden_parts(actions)
                first = sum(len(hand) for hand in table.hands[:player])
                assert found[first : first + len(chances)] == [
                    {card: pytest.approx(float(chance)) for card, chance in slot.items()} for slot in chances
                ]
                rest = found[:first] + found[first + len(chances) :]
                assert rest == [{card: 1.0} for card in others]
                assert parts == [slot.card for hand in table.hands for slot in hand]
                uncertain += sum(len(slot) > 1 for slot in chances)
            actions.append(careful(game, state, rng))
            state = game.apply_action(state, actions[-1])
    assert uncertain > 10


def test_a_history_that_the_rules_do_not_allow_has_no_hidden_parts() -> None:
    game = GAMES["hanabi-tiny-2p"]
    dealt = [deal(card) for card in ("R1", "R1", "R4", "R3")]
    assert game.hidden_parts(dealt) == ["R1", "R1", "R4", "R3"]
    assert game.hidden_parts([*dealt, deal("R4")]) == []
    assert game.hidden_parts(["nonsense"]) == []
    over = [*dealt, play(0), deal("R1"), play(0)]
    assert game.hidden_parts(over) == ["R1", "R1", "R3"]
    assert game.hidden_parts([*over, deal("R4")]) == []
