import random

import pytest

from games.api import GameError, IllegalActionError
from games.batched.yokai import json
from games.batched.yokai.environment import make as make_batched
from games.contract import game as contract
from games.yokai.game import make
from tests.oracles.lane_game import LaneGame


@pytest.mark.parametrize(
    ("cards", "players"), [(9, 2), *(pytest.param(*each, marks=pytest.mark.slow) for each in ((16, 3), (8, 2)))]
)
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
    for action in ("reveal 0", "no-op", "deal red", "nonsense"):
        with pytest.raises(IllegalActionError, match="observe 0"):
            game.apply_action(state, action)
    over = game.apply_action(state, "end")
    with pytest.raises(IllegalActionError, match="the game is over"):
        game.apply_action(over, "end")


def test_states_of_another_game_or_none_are_refused():
    game = make(16, 2)
    state = game.initial_state()
    env = make_batched("yokai-9c-2p")
    with pytest.raises(GameError, match="apply all actions of chance"):
        json.from_json(env, [state])
    while game.current_player(state) == -1:
        state = game.apply_action(state, game.legal_actions(state)[0])
    with pytest.raises(GameError, match="16 cards and 2 players is none of yokai-9c-2p"):
        json.from_json(env, [state])
    with pytest.raises(GameError, match="at least one state"):
        json.from_json(env, [])
