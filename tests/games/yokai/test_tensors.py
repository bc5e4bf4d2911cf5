import numpy as np
import pytest

from games.yokai import tensors
from games.yokai.config import config


@pytest.fixture
def position(small, deal, play):
    """Player 1 has observed card 0 (red); hint 1 (red-green) lies on card 4, hint 2 (green-blue) is face up."""
    state = deal(small, "rgbrgbrgb", "r rg gb rb")
    state = play(small, state, "observe 4", "observe 2", "move 2 to 2,3", "reveal 1")
    state = play(small, state, "observe 4", "observe 2", "move 2 to 3,5", "place 1 at 4,4")
    state = play(small, state, "observe 0", "observe 1", "move 2 to 2,4", "reveal 2")
    return play(small, state, "observe 0")


def test_there_are_13_channels_for_three_colours_15_for_four_and_11_for_two():
    assert tensors.image_shape(config(8, 2)) == (7, 8, 11)
    assert tensors.image_shape(config(9, 2)) == (9, 10, 13)
    assert tensors.image_shape(config(16, 2)) == (10, 11, 15)
    assert tensors.channels(config(9, 2)) == (3, 6, 7, 8, 9, 10, 11, 12, 13)


def test_image_of_the_current_player_has_exactly_the_documented_values(small, position):
    image = tensors.image(small.observations(position)[1], small.config)
    turn = [1, 2 / 4]
    cells = {
        (3, 3): [1, 0, 0, 0, 0, 0, 3 / 8, 3 / 8, 0, *turn, 1 / 9, 1],
        (3, 4): [0, 0, 0, 0, 0, 0, 3 / 8, 4 / 8, 0, *turn, 2 / 9, 0],
        (2, 4): [0, 0, 0, 0, 0, 0, 2 / 8, 4 / 8, 0, *turn, 3 / 9, 0],
        (4, 4): [0, 0, 0, 1, 1, 0, 4 / 8, 4 / 8, 1, *turn, 5 / 9, 0],
        (5, 5): [0, 0, 0, 0, 0, 0, 5 / 8, 5 / 8, 0, *turn, 9 / 9, 0],
        (0, 0): [0, 0, 0, 0, 0, 0, 0, 0, 0, *turn, 0, 0],
        (0, 9): [0, 0, 0, 0, 0, 0, 0, 0, 0, *turn, 1 / 4, 0],
        (1, 9): [0, 0, 0, 0, 0, 0, 0, 0, 1, *turn, 2 / 4, 0],
        (2, 9): [0, 0, 0, 0, 1, 1, 0, 0, 0, *turn, 3 / 4, 0],
        (8, 9): [0, 0, 0, 0, 0, 0, 0, 0, 0, *turn, 0, 0],
    }
    assert image.dtype == np.float32
    for (row, column), expected in cells.items():
        np.testing.assert_allclose(image[row, column], np.array(expected, dtype=np.float32), err_msg=f"{row},{column}")


def test_image_of_another_player_shows_what_is_being_observed_but_no_colour(small, position):
    image = tensors.image(small.observations(position)[0], small.config)
    np.testing.assert_allclose(image[3, 3], np.float32([0, 0, 0, 0, 0, 0, 3 / 8, 3 / 8, 0, 0, 2 / 4, 1 / 9, 1]))


def test_graph_nodes_are_cards_then_hints_and_touching_cards_are_joined(small, position):
    nodes, adjacency = tensors.graph(small.observations(position)[1], small.config)
    assert nodes.shape == (13, 13)
    assert adjacency.shape == (9, 9)
    np.testing.assert_allclose(nodes[0], np.float32([1, 0, 0, 0, 0, 0, 3 / 8, 3 / 8, 0, 1, 2 / 4, 1 / 9, 1]))
    np.testing.assert_allclose(nodes[9], np.float32([0, 0, 0, 0, 0, 0, -1, -1, 0, 1, 2 / 4, 1 / 4, 0]))
    np.testing.assert_allclose(nodes[10], np.float32([0, 0, 0, 0, 0, 0, 4 / 8, 4 / 8, 1, 1, 2 / 4, 2 / 4, 0]))
    np.testing.assert_allclose(nodes[11], np.float32([0, 0, 0, 0, 1, 1, -1, -1, 0, 1, 2 / 4, 3 / 4, 0]))
    assert [int(j) for j in np.flatnonzero(adjacency[4])] == [1, 3, 5, 7]
    assert [int(j) for j in np.flatnonzero(adjacency[2])] == [1]
    assert (adjacency == adjacency.T).all()
    assert not adjacency.diagonal().any()


def test_flat_is_the_image_in_c_order(game, deal):
    view = game.observations(deal(game))[0]
    image = tensors.image(view, game.config)
    assert tensors.flat(view, game.config).tolist() == image.ravel(order="C").tolist()
    assert tensors.flat(view, game.config).shape == (int(np.prod(tensors.image_shape(game.config))),)


def test_turn_channels_are_zero_at_the_end_and_while_dealing(small, deal, play):
    for state in (small.initial_state(), play(small, deal(small), "end")):
        image = tensors.image(small.observations(state)[0], small.config)
        assert not image[:, :, 9].any()
        assert not image[:, :, 10].any()


def test_values_stay_within_minus_one_and_one_and_every_card_is_drawn_once(game, random_states):
    at = tensors.channels(game.config)
    for state in random_states(game, 1, seed=51):
        view = game.observations(state)[0]
        image = tensors.image(view, game.config)
        assert image.min() >= 0
        assert image.max() <= 1
        assert np.count_nonzero(image[:, : game.config.grid, at.identity]) == game.config.cards
        assert tensors.node_features(view, game.config).min() >= -1
