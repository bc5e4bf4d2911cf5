"""Inference in Hand of War: what is drawn fits, and everything that fits is equally likely."""

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games.api import TERMINAL, Action, GameError, Observation
from games.hand_of_war.game import HandOfWar

GAME = HandOfWar()
PLAIN = ("JC QC KC AC JD QD KD AD", "JH QH KH AH JS QS KS AS")
"""Two piles, the top first, where equal places hold equal ranks."""


def own_history(actions: Sequence[Action], player: int) -> list[tuple[Observation, Action | None]]:
    """Returns what `player` saw and did, if `player` is to move after `actions`."""
    state, history = GAME.initial_state(), []
    for action in actions:
        if state["current_player"] == player:
            history.append((GAME.observations(state)[player], action))
        state = GAME.apply_action(state, action)
    assert state["current_player"] == player
    return [*history, (GAME.observations(state)[player], None)]


def deal_actions(first: str, second: str) -> list[Action]:
    return [f"deal {card}" for pair in zip(first.split(), second.split(), strict=True) for card in pair]


def piles_of(actions: Sequence[Action]) -> tuple[list[str], list[str]]:
    """Returns both piles, the top first, of a history."""
    cards = [action.split()[1] for action in actions[:16]]
    return cards[0::2], cards[1::2]


def assert_uniform(drawn: Counter[Any], cells: int) -> None:
    assert len(drawn) == cells
    expected = drawn.total() / cells
    statistic = sum((count - expected) ** 2 / expected for count in drawn.values())
    assert statistic < cells + 5 * (2 * cells) ** 0.5


@given(seed=st.integers(0, 10**6), draws=st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_resampled_histories_recreate_what_the_player_saw(seed: int, draws: int) -> None:
    rng = random.Random(seed)
    state, actions = GAME.initial_state(), []
    while state["current_player"] != TERMINAL:
        player = state["current_player"]
        if player >= 0:
            history = own_history(actions, player)
            assert own_history(GAME.resample_history(history, player, random.Random(draws)), player) == history
        actions.append(rng.choice(GAME.legal_actions(state)))
        state = GAME.apply_action(state, actions[-1])


def test_at_the_start_all_that_is_unseen_is_equally_likely() -> None:
    history = own_history(deal_actions(*PLAIN), 0)
    rng = random.Random(11)
    drawn = [piles_of(GAME.resample_history(history, 0, rng)) for _ in range(6000)]
    assert_uniform(Counter(tuple(own[:3]) for own, _ in drawn), 6)
    assert_uniform(Counter((own[4], other[0]) for own, other in drawn), 13 * 12)
    assert_uniform(Counter((place, card) for _, other in drawn for place, card in enumerate(other)), 8 * 13)


def test_shown_cards_lay_on_any_place_drawn_by_then() -> None:
    actions = [*deal_actions(*PLAIN), "play KC", "play QH", "play JC", "play AH"]
    history = own_history(actions, 0)
    rng = random.Random(12)
    drawn = [piles_of(GAME.resample_history(history, 0, rng)) for _ in range(5000)]
    assert_uniform(Counter((other.index("QH"), other.index("AH")) for _, other in drawn), 9)
    assert {(tuple(sorted(own[:3])), own[3], own[4]) for own, _ in drawn} == {(("JC", "KC", "QC"), "AC", "JD")}
    # Five own cards and two others are known, so nine are spread over three own places and six others.
    assert_uniform(Counter((own[7], other[7]) for own, other in drawn), 9 * 8)


def test_burned_cards_were_not_shown_and_are_not_known() -> None:
    actions = [*deal_actions(*PLAIN), "play KC", "play KH", "play JC", "play QH"]
    history = own_history(actions, 0)
    rng = random.Random(13)
    drawn = [piles_of(GAME.resample_history(history, 0, rng)) for _ in range(5000)]
    assert_uniform(Counter((other.index("KH"), other.index("QH")) for _, other in drawn), 6)
    assert_uniform(Counter((own[3], other[3]) for own, other in drawn), 9 * 8)
    assert_uniform(Counter((own[4], own[5]) for own, _ in drawn), 2)


def test_hidden_choice_of_player_0_is_any_card_of_its_hand() -> None:
    actions = [*deal_actions(*PLAIN), "play KC", "play QH", "play JC"]
    history = own_history(actions, 1)
    rng = random.Random(14)
    drawn = [GAME.resample_history(history, 1, rng) for _ in range(6000)]
    assert all(after[-1].split()[1] in {*piles_of(after)[0][:4]} - {"KC"} for after in drawn)
    assert_uniform(
        Counter(piles_of(after)[0].index(after[-1].split()[1]) for after in drawn if piles_of(after)[0][0] == "KC"), 3
    )
    assert_uniform(Counter(after[-1] for after in drawn), 11)


def test_wrong_histories_are_refused() -> None:
    history = own_history(deal_actions(*PLAIN), 0)
    for wrong, player in (([], 0), (history, 1)):
        with pytest.raises(GameError, match=f"at least one decision point, all of player {player}"):
            GAME.resample_history(wrong, player, random.Random(0))
