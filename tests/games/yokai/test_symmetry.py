"""Every element of every group, on states, actions, masks and observations."""

import random

import numpy as np
import pytest

from games.api import GameError
from games.yokai import tensors
from games.yokai.config import config
from games.yokai.game import make
from games.yokai.symmetry import Symmetries

GROUPS = [
    {},
    {"relabel": False},
    {"mirror": True},
    {"mirror": True, "relabel": False},
    {"colours": False, "turns": False, "hints": True},
]
VIEWS = ("default", "memory")


def random_states(game, seed):
    rng = random.Random(seed)
    state, states = game.initial_state(), []
    while game.current_player(state) != -4:
        if state["phase"] == "play":
            states.append(state)
        state = game.apply_action(state, rng.choice([a for a in game.legal_actions(state) if a != "end"]))
    return [*states, state]


def probability_of_deal(game, dealt):
    """The product over chance's nodes; 0 if chance cannot deal this."""
    actions = [f"deal {colour}" for colour in dealt["colours"]]
    actions += ["hint " + "-".join(hint["colours"]) for hint in dealt["hints"]]
    state, probability = game.initial_state(), 1.0
    for action in actions:
        chance = dict(game.chance_outcomes(state)).get(action, 0.0)
        if not chance:
            return 0.0
        state, probability = game.apply_action(state, action), probability * chance
    return probability


def sampled(group, count, rng):
    """All elements of small groups, `count` of large ones."""
    return range(len(group)) if len(group) <= count else sorted(rng.sample(range(len(group)), count))


@pytest.mark.parametrize("options", GROUPS, ids=str)
@pytest.mark.parametrize(("cards", "players"), [(9, 2), (16, 3), (8, 2)])
def test_every_element_commutes_with_the_rules_the_masks_and_the_observations(cards, players, options):
    rng = random.Random(1)
    if options.get("hints") and cards == 16:
        # 9! permutations are too many to list.
        options = options | {"hints": [rng.sample(range(9), 9) for _ in range(48)]}
    game, group = make(cards, players), Symmetries(config(cards, players), **options)
    states = random_states(game, seed=2)
    for number in sampled(group, 48, rng):
        index = rng.randrange(len(states) - 1)
        state = states[index]
        image = group.state(number, state)
        legal = game.legal_actions(state)
        assert {group.action_string(number, action) for action in legal} == set(game.legal_actions(image))
        action = rng.choice(legal)
        after = game.apply_action(image, group.action_string(number, action))
        assert after == group.state(number, game.apply_action(state, action))
        assert group.action(number, game.action_index(action)) == game.action_index(group.action_string(number, action))
        assert group.inverse_action(number, group.action(number, 77)) == 77
        mask = np.isin(game.all_actions(), legal)
        np.testing.assert_array_equal(group.mask(number, mask), np.isin(game.all_actions(), game.legal_actions(image)))
        for view in VIEWS:
            before = game.observation(state, rng.randrange(players), view)
            seen = game.observation(image, before["you"], view)
            expected = tensors.image(seen, game.config)
            np.testing.assert_array_equal(group.image(number, tensors.image(before, game.config)), expected)
            np.testing.assert_array_equal(group.flat(number, tensors.flat(before, game.config)), expected.reshape(-1))
            nodes, adjacency = group.graph(number, *tensors.graph(before, game.config))
            graph = tensors.graph(seen, game.config)
            np.testing.assert_array_equal(nodes, graph.nodes)
            np.testing.assert_array_equal(adjacency, graph.adjacency)


@pytest.mark.parametrize("cards", [9, 16, 8])
@pytest.mark.parametrize("options", [{}, {"mirror": True}, {"turns": False, "hints": 12}], ids=str)
def test_a_transformed_start_is_a_start_of_equal_probability(cards, options):
    game, rng = make(cards, 2), random.Random(4)
    if "hints" in options:
        options = options | {"hints": [rng.sample(range(game.config.hints), game.config.hints) for _ in range(12)]}
    group = Symmetries(game.config, **options)
    start = next(state for state in random_states(game, 3) if state["phase"] == "play")
    images = []
    for number in range(len(group)):
        image = group.state(number, start)
        assert image["positions"] == start["positions"]
        assert sorted(image["colours"]) == sorted(start["colours"])
        assert probability_of_deal(game, image) == pytest.approx(probability_of_deal(game, start))
        assert all(tuple(hint["colours"]) in game.config.subsets for hint in image["hints"])
        assert len({tuple(hint["colours"]) for hint in image["hints"]}) == game.config.hints
        images.append(str(image))
    assert images[0] == str(start)


def test_group_sizes():
    assert len(Symmetries(config(9, 2))) == 6 * 4
    assert len(Symmetries(config(16, 2))) == 24 * 4
    assert len(Symmetries(config(9, 2), mirror=True, hints=True)) == 6 * 8 * 24
    assert len(Symmetries(config(8, 2))) == 2 * 4


def test_a_quarter_turn_maps_row_and_column_as_documented():
    group = Symmetries(config(9, 2), colours=False)
    assert group.action_string(1, "move 0 to 2,5") == "move 2 to 5,6"
    assert Symmetries(config(9, 2), colours=False, relabel=False).action_string(1, "move 0 to 2,5") == "move 0 to 5,6"


def test_a_quarter_turn_of_the_ring_turns_its_cards_about_the_empty_middle():
    group = Symmetries(config(8, 2), colours=False)
    assert group.tables.card_to[1].tolist() == [2, 4, 7, 1, 6, 0, 3, 5]
    assert group.action_string(1, "move 0 to 3,3") == "move 2 to 3,3"
    assert group.action_string(1, "move 3 to 0,2") == "move 1 to 2,6"


def test_too_many_permutations_of_hints_are_refused():
    with pytest.raises(GameError, match="list of some"):
        Symmetries(config(16, 2), hints=True)


def test_chosen_permutations_of_hints_follow_the_one_that_changes_nothing():
    group = Symmetries(config(16, 2), colours=False, turns=False, hints=[[1, 0, 2, 3, 4, 5, 6], range(7)])
    assert [element.hints for element in group.elements] == [(0, 1, 2, 3, 4, 5, 6), (1, 0, 2, 3, 4, 5, 6)]
    with pytest.raises(GameError, match="give each index once"):
        Symmetries(config(16, 2), hints=[[0, 0, 1, 2, 3, 4, 5]])
