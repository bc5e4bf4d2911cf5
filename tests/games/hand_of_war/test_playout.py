"""Playouts of Hand of War draw what play through the pure functions would draw."""

import random
from collections import Counter

import pytest

from games.api import TERMINAL
from games.hand_of_war.game import HandOfWar

GAME = HandOfWar()
NOBODY = [0.0, 0.0]


def test_playout_of_the_last_battle_draws_every_choice_equally_often() -> None:
    hands = [["JC", "KC", "AH"], ["JH", "JS", "KH"]]
    state = {**GAME.initial_state(), "hands": hands, "current_player": 0}
    rng, games = random.Random(6), 9000
    won = Counter(tuple(GAME.playout(state, rng, 10)) for _ in range(games))
    for paid, share in (((1.0, -1.0), 5 / 9), ((-1.0, 1.0), 1 / 9), ((0.0, 0.0), 3 / 9)):
        assert abs(won[paid] - games * share) < 5 * (games * share * (1 - share)) ** 0.5
    assert GAME.playout(state, rng, 1) == NOBODY


@pytest.mark.parametrize("cards", [0, 5, 16])
def test_playout_ends_like_play_through_the_pure_functions(cards: int) -> None:
    rng, start, games = random.Random(5), GAME.initial_state(), 1200
    for _ in range(cards):
        start = GAME.apply_action(start, rng.choice(GAME.legal_actions(start)))
    fast = Counter(GAME.playout(start, rng, 10_000)[0] for _ in range(games))
    slow: Counter[float] = Counter()
    for _ in range(games):
        state = start
        while state["current_player"] != TERMINAL:
            state = GAME.apply_action(state, rng.choice(GAME.legal_actions(state)))
        slow[GAME.rewards(state)[0]] += 1
    for result in (1.0, 0.0, -1.0):
        share = (fast[result] + slow[result]) / (2 * games)
        assert abs(fast[result] - slow[result]) < 5 * (2 * games * share * (1 - share)) ** 0.5
