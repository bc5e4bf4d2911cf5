import math
import random
from collections.abc import Sequence
from typing import Any

import pytest

from games import registry
from search import planner
from search.api import Decision, PlannerConfig, Position
from search.errors import ErrorCount
from search.mcts import Tree
from search.priors import noisy
from search.puct import PriorEdge, Puct, Ranking


def decide(game: Any, state: Any, simulations: int = 400, seed: int = 0, **settings: Any) -> Decision:
    config = PlannerConfig(simulations=simulations, selection="puct", **({"rollouts": 1} | settings))
    return planner.make(game, config).choose(Position(game.current_player(state), [], state), random.Random(seed))


def after(game: Any, *actions: str) -> Any:
    state = game.initial_state()
    for action in actions:
        state = game.apply_action(state, action)
    return state


@pytest.mark.parametrize(("board", "move"), [("xx.oo....", "2"), ("x.xo.....", "1")])
def test_tactics_of_tic_tac_toe_are_seen(tic_tac_toe: Any, board: str, move: str) -> None:
    assert decide(tic_tac_toe, {"board": board}).action == move


@pytest.mark.parametrize(
    ("columns", "moves"),
    [
        ((0, 6, 0, 6, 0, 5), "0"),
        ((0, 6, 0, 6, 0), "0"),
        ((2, 2, 3, 3, 4, 0), "15"),
    ],
    ids=["win in a column", "block a column", "complete an open row"],
)
def test_tactics_of_connect_four_are_seen(columns: Sequence[int], moves: str) -> None:
    game = registry.make("connect_four")
    state = game.initial_state()
    for column in columns:
        state = game.apply_action(state, next(a for a in game.legal_actions(state) if a.endswith(str(column))))
    decision = decide(game, state, 600, rollouts=2)
    assert decision.action[-1] in moves


class Bandit:
    """One decision among many arms with fixed returns, some policy over them, then a second one that changes
    nothing."""

    def __init__(self, arms: dict[str, float], chances: dict[str, float] | None = None) -> None:
        self.arms = arms
        self.chances = chances or dict.fromkeys(arms, 1.0)
        self.info = type(
            "Info",
            (),
            {
                "id": "bandit",
                "num_players": 1,
                "perfect_information": True,
                "utility": "general_sum",
                "min_utility": -1.0,
                "max_utility": 1.0,
            },
        )()

    def initial_state(self) -> list[str]:
        return []

    def current_player(self, state: list[str]) -> int:
        return 0 if len(state) < 2 else -4

    def legal_actions(self, state: list[str]) -> list[str]:
        return list(self.arms)

    def apply_action(self, state: list[str], action: str) -> list[str]:
        return [*state, action]

    def rewards(self, state: list[str]) -> list[float]:
        return [self.arms[state[0]] if len(state) == 2 else 0.0]

    def value(self, state: list[str], player: int) -> float:
        return self.arms[state[0]]

    def policy(self, state: list[str], actions: Sequence[str], player: int) -> list[float]:
        total = sum(self.chances[action] for action in actions)
        return [self.chances[action] / total for action in actions]


def eager_visits(game: Bandit, config: PlannerConfig, order: list[str]) -> dict[str, int]:
    """The same rule at the root with all children there from the start."""
    chances = dict(zip(order, game.policy([], order, 0), strict=True))
    if config.prior == "uniform":
        chances = dict.fromkeys(order, 1.0 / len(order))
    order = sorted(order, key=lambda action: -chances[action])
    visits, totals = dict.fromkeys(order, 0), dict.fromkeys(order, 0.0)
    for done in range(config.simulations):
        mean = sum(totals.values()) / done if done else 0.0

        def score(action: str, done: int = done, mean: float = mean) -> float:
            own = visits[action]
            worth = totals[action] / own if own else mean - config.first_play_reduction
            return worth + config.puct * chances[action] * math.sqrt(done) / (1 + own)

        chosen = max(order, key=score) if done else order[0]
        visits[chosen] += 1
        totals[chosen] += game.arms[chosen]
    return {action: count for action, count in visits.items() if count}


@pytest.mark.parametrize("prior", ["uniform", "policy"])
@pytest.mark.parametrize("seed", range(5))
def test_lazily_made_edges_are_visited_as_edges_made_at_once_would_be(seed: int, prior: str) -> None:
    rng = random.Random(seed)
    arms = {f"arm {index}": rng.uniform(-1.0, 1.0) for index in range(40)}
    game = Bandit(arms, {arm: rng.random() for arm in arms})
    config = PlannerConfig(
        simulations=300,
        leaf="value",
        selection="puct",
        prior=prior,
        puct=rng.choice([0.3, 1.0, 3.0]),  # type: ignore[arg-type]
    )
    tree = Tree(game, config, Position(0, [], []), random.Random(seed), ErrorCount())
    for _ in range(300):
        tree.simulate()
    # Among equals the order is drawn when the root is first left, before anything else.
    order = list(range(40))
    drawn = random.Random(seed)
    if prior == "uniform":
        drawn.shuffle(order)
    expected = eager_visits(game, config, [list(arms)[index] for index in order])
    assert {edge.action: edge.visits for edge in tree.root.edges} == expected
    assert tree.root.total == pytest.approx(sum(arms[arm] * count for arm, count in expected.items()))


def test_actions_without_a_visit_have_no_edge() -> None:
    arms = {f"arm {index}": 0.0 for index in range(1000)} | {"best": 1.0}
    game = Bandit(arms, dict.fromkeys(arms, 1.0) | {"best": 1000.0})
    decision = decide(game, [], 200, leaf="value", prior="policy")
    assert decision.action == "best"
    assert len(decision.visits) < 60


def test_prior_leads_the_search_and_returns_correct_it() -> None:
    arms = {"liked": 0.0, "good": 0.5, "bad": -0.5}
    game = Bandit(arms, {"liked": 0.9, "good": 0.08, "bad": 0.02})
    few, many = (decide(game, [], count, leaf="value", prior="policy") for count in (2, 400))
    assert few.visits == {"liked": 2}
    assert many.action == "good"


def test_order_of_equals_is_drawn() -> None:
    game = Bandit({f"arm {index}": 0.0 for index in range(10)})
    for prior in ("uniform", "policy"):
        firsts = {next(iter(decide(game, [], 1, seed, leaf="value", prior=prior).visits)) for seed in range(60)}
        assert len(firsts) > 5


def test_first_play_reduction_keeps_to_what_was_tried() -> None:
    game = Bandit({f"arm {index}": 0.0 for index in range(50)})
    settings = {"leaf": "value", "puct": 0.5}
    eager = decide(game, [], 50, first_play_reduction=0.0, **settings)
    content = decide(game, [], 50, first_play_reduction=1.0, **settings)
    assert len(eager.visits) == 50
    assert len(content.visits) == 1


def test_noise_at_the_root_brings_in_what_the_prior_excludes() -> None:
    game = Bandit({f"arm {index}": 0.0 for index in range(20)}, {f"arm {i}": float(i == 0) for i in range(20)})
    settings = {"leaf": "value", "prior": "policy"}
    assert len(decide(game, [], 60, **settings).visits) == 1
    assert len(decide(game, [], 60, root_noise=0.5, **settings).visits) > 1


def test_noise_keeps_the_sum_and_its_share() -> None:
    chances = noisy([0.7, 0.3, 0.0], 0.25, 10.0, random.Random(1))
    assert sum(chances) == pytest.approx(1.0)
    assert chances[0] >= 0.525
    assert noisy([0.7, 0.3], 0.0, 10.0, random.Random(1)) == pytest.approx([0.7, 0.3])
    assert all(math.isfinite(chance) for chance in noisy([0.5] * 2, 1.0, 1e-300, random.Random(1)))


def test_widening_limits_the_children_under_puct_too() -> None:
    game = Bandit({f"arm {index}": 0.0 for index in range(50)})
    decision = decide(game, [], 200, leaf="value", widening_coefficient=0.1, widening_minimum=4)
    assert len(decision.visits) == 4


def test_action_that_breaks_the_model_is_given_up_and_the_others_searched() -> None:
    class Breaking(Bandit):
        def apply_action(self, state: list[str], action: str) -> list[str]:
            if action == "arm 3":
                raise KeyError("three")
            return super().apply_action(state, action)

    game = Breaking({f"arm {index}": 0.1 * index for index in range(4)})
    decision = decide(game, [], 100, leaf="value", puct=2.0)
    assert decision.action == "arm 2"
    assert decision.fallback is None
    assert decision.errors["KeyError: 'three'"] >= 4


def test_edge_and_ranking_keep_their_figures() -> None:
    edge: PriorEdge[int] = PriorEdge("go", 0, 7, 3.0)
    edge.record(2.0)
    edge.record(1.0)
    assert (edge.visits, edge.mean, edge.pull) == (2, 1.5, 1.0)
    ranking = Ranking(["a", "b"], [2.0, 1.0])
    assert ranking.take() == ("a", 2.0)
    ranking.give_back("a")
    assert [ranking.take(), ranking.take()] == [("b", 1.0), ("a", 2.0)]


def test_constants_are_in_units_of_half_the_utility_range() -> None:
    game = registry.make("leduc_poker")
    rule = Puct(game.info, PlannerConfig(puct=2.0, first_play_reduction=0.5))
    assert (rule.constant, rule.reduction) == (26.0, 6.5)


@pytest.mark.parametrize("prior", ["uniform", "policy"])
def test_information_set_search_with_priors_finds_the_likelier_coin(pennies_game: Any, prior: str) -> None:
    pennies_game.policy = lambda state, actions, player: [0.2, 0.8]
    config = PlannerConfig("ismcts", 1500, rollouts=1, selection="puct", prior=prior, puct=2.0)  # type: ignore[arg-type]
    decision = planner.make(pennies_game, config).choose(Position(1, [({"sees": "high"}, None)]), random.Random(0))
    assert decision.action == "heads"
    assert decision.values["heads"] == pytest.approx(0.5, abs=0.1)


def test_policy_is_asked_once_a_node_and_not_once_a_determinization(pennies_game: Any) -> None:
    asked: list[int] = []

    def policy(state: Any, actions: Sequence[str], player: int) -> list[float]:
        asked.append(player)
        return [0.5, 0.5]

    pennies_game.policy = policy
    config = PlannerConfig("ismcts", 300, rollouts=1, selection="puct", prior="policy")
    planner.make(pennies_game, config).choose(Position(1, [({"sees": "high"}, None)]), random.Random(0))
    assert asked == [1]


def test_a_search_that_explains_itself_tells_its_priors_and_decides_the_same() -> None:
    game: Any = Bandit({"a": 1.0, "b": 0.0, "c": 0.5}, {"a": 0.25, "b": 0.5, "c": 0.25})
    chooser = planner.make(game, PlannerConfig(simulations=40, rollouts=1, selection="puct", prior="policy"))
    plain, told = (
        chooser.choose(Position(0, [], game.initial_state(), as_searched=explains), random.Random(0))
        for explains in (False, True)
    )
    assert (plain.action, plain.visits, plain.values, plain.priors) == (told.action, told.visits, told.values, None)
    assert told.priors == pytest.approx({"a": 0.25, "b": 0.5, "c": 0.25})
