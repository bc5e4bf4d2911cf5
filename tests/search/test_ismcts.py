import copy
import random
from collections import Counter
from typing import Any

import pytest

from search import planner
from search.api import Decision, PlannerConfig, Position
from search.belief import Belief
from search.errors import ErrorCount, SearchFailedError
from search.info_tree import InformationTree

HIGH_BID = [({"sees": "high"}, None)]


def decide(game: Any, history: Any, player: int, simulations: int = 500, seed: int = 0, **settings: Any) -> Decision:
    config = PlannerConfig(algorithm="ismcts", simulations=simulations, **({"rollouts": 1} | settings))
    return planner.make(game, config).choose(Position(player, history), random.Random(seed))


def test_caller_calls_the_likelier_coin(pennies_game: Any) -> None:
    decision = decide(pennies_game, HIGH_BID, 1, 2000, exploration=4.0)
    assert decision.action == "heads"
    assert decision.values["heads"] == pytest.approx(0.5, abs=0.1)
    assert decision.values["tails"] == pytest.approx(-0.5, abs=0.1)


def test_opponent_who_does_not_see_the_coin_calls_it_blindly(blind_call: Any) -> None:
    """One plan for all coins: betting is worth 0, and passing -0.5. A tree split by the coin would give -1."""
    decision = decide(blind_call(seen=False), [({"sees": None}, None)], 0, 4000)
    assert decision.action == "bet"
    assert decision.values["bet"] == pytest.approx(0.0, abs=0.15)


def test_opponent_who_sees_the_coin_calls_it_right(blind_call: Any) -> None:
    """Two nodes, one a coin: betting is worth -1. A tree that merged them would give 0."""
    decision = decide(blind_call(seen=True), [({"sees": None}, None)], 0, 4000)
    assert decision.action == "pass"
    assert decision.values["bet"] < -0.7


def test_partner_in_the_tree_shares_one_plan_for_all_that_it_cannot_tell_apart(meet: Any) -> None:
    """After `near`, the guesser knows nothing of the word: half of its guesses hit, whatever it guesses."""
    decision = decide(meet, [({"sees": "near"}, None)], 1, 2000)
    assert decision.values["sun"] == pytest.approx(2.0, abs=0.3)
    assert decision.values["moon"] == pytest.approx(2.0, abs=0.3)


def test_values_are_returns_from_now_on_in_the_units_of_the_game(meet: Any) -> None:
    decision = decide(meet, [({"sees": "far"}, None)], 1, 2000)
    assert decision.values["sun"] == pytest.approx(1.0, abs=0.3)


def test_three_players_each_maximise_their_own_return(three_greedy: Any, pennies_game: Any) -> None:
    spots = [three_greedy.root]
    for spot in spots:  # everybody sees everything: the path, here the node itself
        spot.see = dict.fromkeys(range(3), len(spots))
        spots.extend(spot.after.values())
    game = type(pennies_game)(three_greedy.root, 3, "general_sum", 0.0, 9.0, perfect=False)
    decision = decide(game, [(game.observations([])[0], None)], 0, 4000)
    assert decision.action == "l"
    assert decision.values["l"] == pytest.approx(2.0, abs=0.3)


def test_rewards_on_the_way_count(paid_on_the_way: Any, pennies_game: Any) -> None:
    game = type(pennies_game)(paid_on_the_way.root, 1, "general_sum", 0.0, 3.0, perfect=False)
    decision = decide(game, [({"sees": None}, None)], 0, 100)
    assert decision.values == {"late": 2.0, "early": 3.0}


def test_chance_after_the_root_is_drawn_by_its_probabilities(gamble: Any, pennies_game: Any) -> None:
    game = type(pennies_game)(gamble.root, 1, "general_sum", 0.0, 10.0, perfect=False)
    decision = decide(game, [({"sees": None}, None)], 0, 4000)
    assert decision.values["risk"] == pytest.approx(3.0, abs=0.3)


def test_same_seed_gives_the_same_decision(pennies_game: Any) -> None:
    assert decide(pennies_game, HIGH_BID, 1, seed=5) == decide(pennies_game, HIGH_BID, 1, seed=5)


def test_history_that_was_given_is_not_changed(pennies_game: Any) -> None:
    history = copy.deepcopy(HIGH_BID)
    decide(pennies_game, history, 1)
    assert history == HIGH_BID


def test_malformed_history_is_refused(pennies_game: Any) -> None:
    with pytest.raises(SearchFailedError, match="last action None"):
        decide(pennies_game, [({"sees": "high"}, "heads")], 1)


def remade(game: Any, **methods: Any) -> Any:
    """Returns `game` with some methods replaced."""
    info = game.info
    changed = type("Remade", (type(game),), methods)
    bounds = (info.min_utility, info.max_utility)
    return changed(game.root, info.num_players, info.utility, *bounds, perfect=False)


def test_no_valid_history_falls_back_to_a_random_legal_action(pennies_game: Any) -> None:
    game = remade(pennies_game, resample_history=lambda self, history, player, rng: ["heads", "low"])
    decisions = [decide(game, HIGH_BID, 1, seed=seed) for seed in range(20)]
    assert {decision.action for decision in decisions} == {"heads", "tails"}
    assert decisions[0].fallback == "none of 10 sampled histories recreates what player 1 sees"
    assert (decisions[0].simulations, decisions[0].belief["accepted"]) == (0, 0)


def test_without_any_state_the_search_fails_in_words(pennies_game: Any) -> None:
    def broken(self: Any, history: Any, player: int, rng: random.Random) -> list[str]:
        raise ValueError("no idea")

    with pytest.raises(SearchFailedError, match="no state was had"):
        decide(remade(pennies_game, resample_history=broken), HIGH_BID, 1)


def test_model_that_breaks_in_the_search_falls_back_and_says_why(pennies_game: Any) -> None:
    def rewards(self: Any, state: Any) -> list[float]:
        raise ZeroDivisionError("division by zero")

    decision = decide(remade(pennies_game, rewards=rewards), HIGH_BID, 1)
    assert decision.action in ("heads", "tails")
    assert decision.fallback is not None
    assert "ZeroDivisionError" in decision.fallback
    assert decision.errors == {
        "ZeroDivisionError: division by zero": 5,
        "BrokenModelError: player 1 is to move and has no action that the model can play": 245,
    }


def test_action_that_breaks_the_model_is_given_up_and_the_others_searched(pennies_game: Any) -> None:
    def apply_action(self: Any, state: list[str], action: str) -> list[str]:
        if len(state) == 2 and action == "heads":
            raise KeyError("heads")
        return [*state, action]

    decision = decide(remade(pennies_game, apply_action=apply_action), HIGH_BID, 1, 200)
    assert decision.action == "tails"
    assert decision.errors == {"KeyError: 'heads'": 4}
    assert decision.simulations == 196
    assert decision.fallback is None


def test_reward_that_is_no_number_is_an_error_of_the_model(pennies_game: Any) -> None:
    decision = decide(remade(pennies_game, rewards=lambda self, state: [float("nan")] * 2), HIGH_BID, 1)
    assert decision.fallback is not None
    assert "finite" in decision.fallback


def test_exit_of_a_model_is_not_swallowed(pennies_game: Any) -> None:
    def rewards(self: Any, state: Any) -> list[float]:
        raise SystemExit

    with pytest.raises(SystemExit):
        decide(remade(pennies_game, rewards=rewards), HIGH_BID, 1)


def test_action_legal_in_few_determinizations_is_judged_by_those_alone() -> None:
    """With probability 0.1 a third action is legal and pays 1; the others pay 0.5 always (a game that tells its
    player too little; a model with such a fault must still be searched)."""
    game = SometimesLegal()
    decision = decide(game, [({}, None)], 0, 2000, belief_size=2000)
    assert decision.values == {"steady": 0.5, "rare": 1.0, "dull": 0.25}
    assert 150 < decision.visits["rare"] < 250


def test_under_puct_too_an_action_legal_in_few_determinizations_is_judged_by_those_alone() -> None:
    decision = decide(SometimesLegal(), [({}, None)], 0, 2000, belief_size=2000, selection="puct", puct=1.0)
    assert decision.values == {"steady": 0.5, "rare": 1.0, "dull": 0.25}
    assert 100 < decision.visits["rare"] < 250
    assert decision.errors == {}


class SometimesLegal:
    """See the tests above."""

    pays = {"steady": 0.5, "dull": 0.25, "rare": 1.0}  # noqa: RUF012

    def __init__(self) -> None:
        bounds = {"min_utility": 0.0, "max_utility": 1.0, "utility": "general_sum", "id": "sometimes"}
        self.info = type("Info", (), {"num_players": 1, "perfect_information": False, **bounds})()

    def initial_state(self) -> list[str]:
        return []

    def current_player(self, state: list[str]) -> int:
        return (-1, 0, -4)[len(state)]

    def legal_actions(self, state: list[str]) -> list[str]:
        return ["steady", "dull", "rare"] if state[0] == "lucky" else ["dull", "steady"]

    def apply_action(self, state: list[str], action: str) -> list[str]:
        assert not state or action in self.legal_actions(state)
        return [*state, action]

    def rewards(self, state: list[str]) -> list[float]:
        return [self.pays[state[1]] if len(state) == 2 else 0.0]

    def observations(self, state: list[str]) -> list[dict[str, Any]]:
        return [{}]

    def chance_outcomes(self, state: list[str]) -> list[tuple[str, float]]:
        return []

    def resample_history(self, history: Any, player: int, rng: random.Random) -> list[str]:
        return ["lucky" if rng.random() < 0.1 else "plain"]


def test_widening_limits_the_children_of_the_root() -> None:
    game = SometimesLegal()
    decision = decide(game, [({}, None)], 0, 50, widening_coefficient=0.1, widening_minimum=1)
    assert len(decision.visits) <= 2


@pytest.mark.parametrize("widening", [{}, {"widening_coefficient": 0.1, "widening_minimum": 1}])
def test_availability_counts_the_visits_at_which_an_edge_was_there_and_legal(widening: dict[str, Any]) -> None:
    class Told(SometimesLegal):
        last = ""

        def resample_history(self, history: Any, player: int, rng: random.Random) -> list[str]:
            self.last = super().resample_history(history, player, rng)[0]
            return [self.last]

    game, rng = Told(), random.Random(7)
    config = PlannerConfig("ismcts", simulations=400, rollouts=1, belief_size=400, **widening)
    position = Position(0, [({}, None)])
    belief = Belief(game, game, position, config, rng, ErrorCount())
    tree = InformationTree(game, config, position, belief, belief.next(), rng, ErrorCount())
    counted: Counter[str] = Counter()
    for _ in range(400):
        tree.simulate()
        legal = game.legal_actions([game.last])
        counted.update(edge.action for edge in tree.root.edges if edge.action in legal)
    assert {edge.action: tree.root.visits - edge.unavailable for edge in tree.root.edges} == counted
    assert sum(edge.visits for edge in tree.root.edges) == 400
    assert counted["rare"] < 100 < counted["steady"]


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"legal_actions": 5}, "legal_actions returned a int, expected a list of strings"),
        ({"legal_actions": "heads"}, "legal_actions returned a str, expected a list of strings"),
        ({"legal_actions": ["heads", 3]}, "legal_actions returned a list that holds a int, expected strings alone"),
        ({"legal_actions": []}, "lists no legal action"),
        ({"current_player": 1.0}, "current_player returned a float, expected a whole number"),
    ],
)
def test_model_that_breaks_the_types_at_the_root_is_at_fault(
    pennies_game: Any, answers: dict[str, Any], message: str
) -> None:
    def answered(name: str, answer: Any) -> Any:
        original = getattr(type(pennies_game), name)
        return lambda self, state: answer if len(state) == 2 else original(self, state)

    game = remade(pennies_game, **{name: answered(name, answer) for name, answer in answers.items()})
    with pytest.raises(SearchFailedError, match=message):
        decide(game, HIGH_BID, 1)


def test_a_limit_of_time_ends_a_search_on_beliefs_too(pennies_game: Any) -> None:
    assert decide(pennies_game, HIGH_BID, 1, 10**9, seconds=1e-9).simulations == 1
