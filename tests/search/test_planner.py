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


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"selection": "greedy"}, "selection is 'greedy', expected 'ucb' or 'puct'"),
        ({"selection": "puct", "prior": "flat"}, "prior is 'flat', expected 'uniform' or 'policy'"),
        ({"prior": "policy"}, "read by selection='puct' alone"),
        ({"puct": -1.0}, "puct is -1.0"),
        ({"belief_temper": float("inf")}, "belief_temper is inf"),
        ({"belief_mix": 1.5}, "belief_mix is 1.5, expected a share from 0 to 1"),
        ({"belief_threshold": -0.1}, "belief_threshold is -0.1, expected a share"),
        ({"root_noise": True}, "root_noise is True"),
        ({"noise_concentration": 0.0}, "noise_concentration is 0.0, expected a number above 0"),
        ({"selection": "puct", "prior": "policy"}, "need a policy prior, and tic_tac_toe has none"),
    ],
)
def test_setting_of_priors_out_of_range_is_named(tic_tac_toe: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(PlannerConfigError, match=message):
        planner.make(tic_tac_toe, PlannerConfig(**settings))


def test_weighted_belief_is_refused_without_a_policy(pennies_game: Any) -> None:
    with pytest.raises(PlannerConfigError, match="need a policy prior"):
        planner.make(pennies_game, PlannerConfig("ismcts", belief_temper=1.0))


def test_settings_without_priors_have_the_json_that_they_always_had() -> None:
    assert set(PlannerConfig().to_json()) == {
        "algorithm",
        "simulations",
        "exploration",
        "leaf",
        "rollouts",
        "max_rollout_actions",
        "max_depth",
        "widening_coefficient",
        "widening_exponent",
        "widening_minimum",
        "belief_size",
        "resample_tries",
    }


def test_settings_come_back_from_their_json() -> None:
    for config in (PlannerConfig(), PlannerConfig("ismcts", belief_temper=1.0), PlannerConfig(selection="puct")):
        assert PlannerConfig.from_json(config.to_json()) == config
    assert PlannerConfig(selection="puct").to_json()["puct"] == PlannerConfig().puct
