"""One-ply search over a blueprint: what everybody would play by the prior, left only for a gain beyond doubt."""

import math
import random
from collections.abc import Sequence
from typing import Any

import pytest

from arena.agents import specs
from games.api import CHANCE
from search import planner
from search.api import Decision, PlannerConfig, PlannerConfigError, Position
from search.blueprint import LEAST_WORLDS, Blueprint
from tests.search.conftest import HiddenGame, Spot, end


def by(game: Any, **shares: float) -> Any:
    """Gives a game the policy prior that weighs actions by `shares`, 1 where none is given."""

    def policy(state: Any, actions: Sequence[str], player: int) -> list[float]:
        return [shares.get(action, 1.0) for action in actions]

    game.policy = policy
    return game


def decide(game: Any, history: Any = (({"sees": None}, None),), seed: int = 0, **settings: Any) -> Decision:
    config = PlannerConfig(algorithm="blueprint", **({"simulations": 200} | settings))
    chooser = planner.make(game, config)
    assert isinstance(chooser, Blueprint)
    return chooser.choose(Position(0, list(history)), random.Random(seed))


@pytest.fixture
def doors() -> HiddenGame:
    """Chance throws a coin worth 10 that pays behind both doors; the right one pays 0.5 more. Player 1 waits."""

    def room(coin: str, more: float) -> Spot:
        paid = (10.0 if coin == "heads" else 0.0) + more
        return Spot(1, {"wait": end(paid, paid)})

    def hall(coin: str) -> Spot:
        return Spot(0, {"left": room(coin, 0.0), "right": room(coin, 0.5)})

    root = Spot(CHANCE, {side: hall(side) for side in ("heads", "tails")}, {"heads": 0.5, "tails": 0.5})
    return HiddenGame(root, 2, "identical", 0.0, 10.5, perfect=False)


def test_one_candidate_plays_the_priors_likeliest_action_without_a_search(doors: HiddenGame) -> None:
    decision = decide(by(doors, left=2.0), candidates=1)
    assert (decision.action, decision.simulations, decision.visits) == ("left", 0, {"left": 0})


def test_a_gain_shows_in_few_worlds_however_much_luck_moves_both_actions(doors: HiddenGame) -> None:
    decision = decide(by(doors, left=2.0), simulations=2 * LEAST_WORLDS, margin_errors=2.0)
    assert decision.action == "right"
    assert decision.values["right"] - decision.values["left"] == pytest.approx(0.5)


def test_a_gain_within_the_margin_leaves_the_blueprint_alone(doors: HiddenGame) -> None:
    assert decide(by(doors, left=2.0), margin=0.6).action == "left"


def test_fewer_worlds_than_the_least_decide_nothing(doors: HiddenGame) -> None:
    decision = decide(by(doors, left=2.0), simulations=2 * LEAST_WORLDS - 2)
    assert decision.action == "left"
    assert decision.visits == {"left": LEAST_WORLDS - 1, "right": LEAST_WORLDS - 1}


def test_an_action_that_can_win_no_more_is_given_up(doors: HiddenGame) -> None:
    decision = decide(by(doors, right=2.0), simulations=400)
    assert decision.action == "right"
    assert decision.visits == {"left": LEAST_WORLDS, "right": LEAST_WORLDS}


def test_the_convention_of_the_prior_is_read_by_the_partner(meet: Any) -> None:
    """With a partner who takes `near` for the sun, pointing far, which costs 1, is right where the word is the moon."""

    def policy(state: list[str], actions: Sequence[str], player: int) -> list[float]:
        if player == 0:
            return [0.9 if action == "near" else 0.1 for action in actions]
        told = "sun" if state[1] == "near" else "moon"
        return [float(action == told) for action in actions]

    meet.policy = policy
    assert decide(meet, [({"sees": "moon"}, None)]).action == "far"
    assert decide(meet, [({"sees": "sun"}, None)]).action == "near"


def test_only_the_likeliest_actions_are_tried() -> None:
    root = Spot(0, {name: end(float(pay)) for name, pay in (("a", 0), ("b", 1), ("c", 2), ("d", 3))})
    game = by(HiddenGame(root, 1, "general_sum", 0.0, 3.0, perfect=False), a=5.0, b=4.0, c=3.0, d=1.0)
    assert decide(game, candidates=3).action == "c"
    assert decide(game, candidates=4).action == "d"


def test_play_outs_that_are_cut_are_valued_by_the_value_function(doors: HiddenGame) -> None:
    game: Any = by(doors, left=2.0)
    game.value = lambda state, player: 7.0 if "right" in state else 9.0
    cut = decide(game, leaf="value", max_rollout_actions=1)
    assert cut.values == {"left": 9.0, "right": 7.0}
    assert decide(game, leaf="value").action == "right"


def test_a_model_that_raises_in_every_world_falls_back_and_says_so(doors: HiddenGame) -> None:
    game: Any = by(doors, left=2.0)
    rewards = game.rewards
    game.rewards = lambda state: rewards(state) if len(state) < 3 else [math.nan, math.nan]
    decision = decide(game)
    assert decision.action in ("left", "right")
    assert decision.fallback is not None
    assert decision.fallback.startswith("the model raised in 10 of 10 sampled worlds, last BrokenModelError")


def test_without_a_prior_there_is_no_blueprint(pennies_game: Any) -> None:
    with pytest.raises(PlannerConfigError, match="blueprint plays by a policy prior, and written has none: use ismcts"):
        planner.make(pennies_game, PlannerConfig("blueprint"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"candidates": 0}, "candidates is 0, expected a whole number of at least 1"),
        ({"margin": -1.0}, "margin is -1.0, expected a number of at least 0"),
        ({"margin_errors": math.nan}, "margin_errors is nan"),
    ],
)
def test_settings_out_of_range_are_named(doors: HiddenGame, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(PlannerConfigError, match=message):
        decide(by(doors), **settings)


def test_settings_of_other_searches_are_written_as_before() -> None:
    assert not {"candidates", "margin", "margin_errors"} & PlannerConfig("ismcts").to_json().keys()
    config = PlannerConfig("blueprint", candidates=3)
    assert PlannerConfig.from_json(config.to_json()) == config


def test_agents_are_written_on_the_true_game_and_on_a_model() -> None:
    spec = specs.parse("blueprint:sims=300,candidates=3,margin=0.1")
    assert spec.planner_config(False) == PlannerConfig("blueprint", 300, candidates=3, margin=0.1)
    on_model = specs.parse("cwm:recorded,algorithm=blueprint,candidates=1")
    assert on_model.planner_config(False) == PlannerConfig("blueprint", candidates=1)
