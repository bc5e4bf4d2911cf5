import random

import pytest

from games import contract
from games.api import IllegalActionError
from games.batched.lane_game import LaneGame
from games.yokai.game import make


@pytest.mark.parametrize(("cards", "players"), [(9, 2), (16, 3)])
def test_one_lane_keeps_the_contract(cards, players):
    contract.assert_game(LaneGame(cards, players), games=1, seed=3)


def test_one_lane_plays_as_the_reference_does():
    ours, reference, rng = LaneGame(9, 2), make(9, 2), random.Random(1)
    state = ours.initial_state()
    while ours.current_player(state) != -4:
        assert ours.legal_actions(state) == reference.legal_actions(state)
        assert ours.rewards(state) == reference.rewards(state)
        action = rng.choice([a for a in ours.legal_actions(state) if a != "end"])
        assert ours.apply_action(state, action) == reference.apply_action(state, action)
        state = ours.apply_action(state, action)
    assert ours.rewards(state) == reference.rewards(state)


def test_an_illegal_action_is_refused():
    game, rng = LaneGame(9, 2), random.Random(2)
    state = game.initial_state()
    while game.current_player(state) == -1:
        state = game.apply_action(state, rng.choice(game.legal_actions(state)))
    with pytest.raises(IllegalActionError, match="observe 0"):
        game.apply_action(state, "reveal 0")
