import random

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import ismcts, mcts

from games.adapters.spiel_game import resampler
from games.api import GameError
from games.yokai import spiel, tensors

PARAMETERS = [
    f"version={version},players={players},memory={memory}"
    for version in ("9c", "16c")
    for players in (2, 3, 4)
    for memory in (False, True)
] + ["version=8c,memory=False", "version=8c,memory=True"]


def load(parameters=""):
    return pyspiel.load_game(f"{spiel.SHORT_NAME}({parameters})")


def advanced(game, moves, seed=0):
    rng = random.Random(seed)
    end = game.num_distinct_actions() - 1
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(rng.choice(state.legal_actions()))
    for _ in range(moves):
        state.apply_action(rng.choice([action for action in state.legal_actions() if action != end]))
    return state


@pytest.mark.parametrize("parameters", PARAMETERS)
def test_random_games_pass_open_spiels_own_test(parameters):
    pyspiel.random_sim_test(load(parameters), 1, False, False)


def test_loaded_games_have_the_sizes_of_the_configuration():
    game = load("version=16c,players=2")
    assert (game.num_distinct_actions(), game.num_players(), game.max_game_length()) == (2325, 2, 56)
    assert (game.min_utility(), game.max_utility()) == (-11, 35)
    assert game.max_chance_outcomes() == 4 + 4 + 6 + 4
    assert game.observation_tensor_shape() in ([10 * 11 * 15], [10, 11, 15])
    assert load().num_distinct_actions() == 1068
    assert game.get_type().utility == pyspiel.GameType.Utility.IDENTICAL


def test_the_reduced_setting_has_its_own_sizes():
    game = load("version=8c")
    assert (game.num_distinct_actions(), game.num_players(), game.max_game_length()) == (552, 2, 24)
    assert (game.min_utility(), game.max_utility()) == (-5, 15)
    assert game.max_chance_outcomes() == 2 + 3
    assert game.observation_tensor_shape() in ([7 * 8 * 11], [7, 8, 11])


def test_action_numbers_are_the_indices_of_the_layout():
    state = advanced(load(), 0)
    assert state.legal_actions() == [*range(1, 10), 1067]
    assert state.action_to_string(0, 5) == "observe 4"


def test_observation_tensor_is_the_flat_image_of_the_view_that_memory_chooses():
    for memory in (False, True):
        state = advanced(load(f"memory={memory}"), 9)
        game = spiel.make("9c", 2, memory)
        for player in (0, 1):
            view = game.observations(state.node.state)[player]
            expected = tensors.flat(view, game.config)
            np.testing.assert_array_equal(np.float32(state.observation_tensor(player)), expected)


def test_information_state_string_does_not_depend_on_memory():
    with_memory, without = (advanced(load(f"memory={memory}"), 10) for memory in (True, False))
    for player in (0, 1):
        assert with_memory.information_state_string(player) == without.information_state_string(player)


def test_resampled_states_keep_the_information_state_and_change_the_deal():
    state = advanced(load("players=3"), 18)
    player = state.current_player()
    resample = resampler(random.Random(1))
    others = [resample(state, player) for _ in range(10)]
    assert {other.information_state_string(player) for other in others} == {state.information_state_string(player)}
    assert len({str(other) for other in others}) > 1


def test_open_spiels_python_searches_run():
    game = load()
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(0))
    bot = ismcts.ISMCTSBot(game, evaluator, 2.0, 20, random_state=np.random.RandomState(0))
    bot.set_resampler(resampler(random.Random(2)))
    state = advanced(game, 8)
    assert bot.step(state) in state.legal_actions()
    planner = mcts.MCTSBot(game, 2.0, 20, evaluator, random_state=np.random.RandomState(0))
    assert planner.step(state) in state.legal_actions()


def test_unknown_versions_are_refused():
    with pytest.raises(GameError, match="9c, 16c, 8c"):
        spiel.make("25c")


def test_registering_twice_does_no_harm():
    assert spiel.register().get_type().short_name == spiel.SHORT_NAME
