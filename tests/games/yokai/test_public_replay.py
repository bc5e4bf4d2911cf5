import random

import numpy as np
import pytest

from games.api import GameError
from games.yokai import public_replay, tensors
from games.yokai.game import make
from games.yokai.policy import POLICIES


def played(game, seed, policy=None):
    """Returns the states before every player's action of one game, and its actions."""
    rng = random.Random(seed)
    state = game.initial_state()
    states, actions = [], []
    while state["phase"] != "over":
        legal = game.legal_actions(state)
        dealing = state["phase"] == "deal"
        if dealing or policy is None:
            action = rng.choice([a for a in legal if a != "end" or rng.random() < 0.1] or legal)
        else:
            action = policy(game, state, (), state["player"], rng)
        if not dealing:
            states.append(state)
            actions.append(action)
        state = game.apply_action(state, action)
    return states, actions


CONFIGURATIONS = [(8, 2), (9, 2), (9, 3), (16, 2), (16, 4)]


@pytest.mark.parametrize(("cards", "players"), CONFIGURATIONS)
@pytest.mark.parametrize("view", ["default", "memory"])
def test_rebuilt_views_and_images_are_those_of_every_step_bit_for_bit(cards, players, view):
    game = make(cards, players)
    policies = [None, None, None, POLICIES["win late"], POLICIES["freeze"]]
    for seed, policy in enumerate(policies):
        states, _ = played(game, seed, policy)
        for player in range(players):
            seen = [game.observation(state, player, view) for state in states]
            own = [number for number, state in enumerate(states) if state["player"] == player]
            before = 0
            for now in own:
                history = [seen[number] for number in own if number <= now]
                rebuilt = public_replay.views(game.config, history, view == "memory", before)
                assert rebuilt == seen[before : now + 1]
                for mine, truth in zip(rebuilt, seen[before : now + 1], strict=True):
                    image = tensors.image(mine, game.config)
                    assert image.tobytes() == tensors.image(truth, game.config).tobytes()
                before = now + 1


def test_a_whole_game_is_rebuilt_from_one_long_history():
    game = make(9, 2)
    states, _ = played(game, 7, POLICIES["win late"])
    history = [game.observation(state, 1, "memory") for state in states if state["player"] == 1]
    rebuilt = public_replay.views(game.config, history, memory=True)
    last = max(number for number, state in enumerate(states) if state["player"] == 1)
    assert rebuilt == [game.observation(state, 1, "memory") for state in states[: last + 1]]
    assert len(rebuilt) > 24


def test_nothing_but_the_own_views_decides_what_is_rebuilt():
    game = make(9, 2)
    states, _ = played(game, 3, POLICIES["win late"])
    now = next(number for number, state in enumerate(states) if state["turn"] == 3 and state["sub_step"] == 1)
    history = [game.observation(state, 1, "default") for state in states[: now + 1] if state["player"] == 1]
    colours = states[now]["colours"]
    unseen = [card for card in range(9) if card not in states[now]["observed"][1]]
    one, other = next((a, b) for a in unseen for b in unseen if colours[a] != colours[b])
    swapped = list(colours)
    swapped[one], swapped[other] = colours[other], colours[one]
    other_deal = [{**state, "colours": swapped} for state in states[: now + 1]]
    assert history == [game.observation(state, 1, "default") for state in other_deal if state["player"] == 1]
    for state, view in zip(other_deal, public_replay.views(game.config, history, memory=False), strict=True):
        assert np.array_equal(
            tensors.image(view, game.config), tensors.image(game.observation(state, 1, "default"), game.config)
        )


def test_history_with_a_gap_or_of_another_view_is_refused():
    game = make(9, 2)
    states, _ = played(game, 5, POLICIES["win late"])
    own = [state for state in states if state["player"] == 0]
    with pytest.raises(GameError, match="history is empty"):
        public_replay.views(game.config, [], memory=False)
    with pytest.raises(GameError, match="pass every own decision point"):
        public_replay.views(game.config, [game.observation(own[-1], 0, "default")], memory=False)
    mixed = [game.observation(state, 0, "default") for state in own]
    with pytest.raises(GameError, match="all in the view memory"):
        public_replay.views(game.config, mixed, memory=True)
