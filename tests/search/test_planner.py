from typing import Any

import pytest

from search import planner
from search.api import PlannerConfig, PlannerConfigError
from search.ismcts import Ismcts
from search.mcts import Mcts


def test_algorithm_is_the_one_asked_for(tic_tac_toe: Any, pennies_game: Any) -> None:
    assert isinstance(planner.make(tic_tac_toe, PlannerConfig("mcts")), Mcts)
    assert isinstance(planner.make(pennies_game, PlannerConfig("ismcts")), Ismcts)


def test_mcts_is_refused_where_information_is_hidden(pennies_game: Any) -> None:
    with pytest.raises(PlannerConfigError, match="perfect information"):
        planner.make(pennies_game, PlannerConfig("mcts"))


def test_ismcts_is_refused_without_an_inference_function(tic_tac_toe: Any) -> None:
    with pytest.raises(PlannerConfigError, match="resample_history"):
        planner.make(tic_tac_toe, PlannerConfig("ismcts"))


def test_value_leaves_are_refused_without_a_value_function(tic_tac_toe: Any) -> None:
    with pytest.raises(PlannerConfigError, match="needs a value function, and tic_tac_toe has none"):
        planner.make(tic_tac_toe, PlannerConfig(leaf="value"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"algorithm": "minimax"}, "algorithm is 'minimax'"),
        ({"leaf": "guess"}, "leaf is 'guess'"),
        ({"simulations": 0}, "simulations is 0, expected a whole number of at least 1"),
        ({"rollouts": -1}, "rollouts is -1"),
        ({"exploration": -0.5}, "exploration is -0.5"),
        ({"exploration": float("nan")}, "exploration is nan"),
        ({"max_depth": "deep"}, "max_depth is 'deep'"),
        ({"simulations": 10.5}, "simulations is 10.5, expected a whole number"),
        ({"widening_coefficient": 1.0, "widening_minimum": 0}, "widening_minimum is 0"),
    ],
)
def test_setting_out_of_range_is_named(tic_tac_toe: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(PlannerConfigError, match=message):
        planner.make(tic_tac_toe, PlannerConfig(**settings))
