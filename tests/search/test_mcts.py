import copy
import random
from typing import Any

import pytest

from search import planner
from search.api import Decision, PlannerConfig, PlannerConfigError, Position
from search.errors import SearchFailedError


def decide(game: Any, simulations: int = 500, seed: int = 0, state: Any = None, **settings: Any) -> Decision:
    config = PlannerConfig(simulations=simulations, **({"rollouts": 1} | settings))
    state = game.initial_state() if state is None else state
    player = game.current_player(state)
    return planner.make(game, config).choose(Position(player, [], state), random.Random(seed))


def test_gamble_worth_three_is_preferred_to_two_for_sure(gamble: Any) -> None:
    decision = decide(gamble, 4000)
    assert decision.action == "risk"
    assert decision.values["sure"] == 2.0
    assert decision.values["risk"] == pytest.approx(3.0, abs=0.3)


def test_three_players_each_maximise_their_own_return(three_greedy: Any) -> None:
    decision = decide(three_greedy, 3000)
    assert decision.action == "l"
    assert decision.values["l"] == pytest.approx(2.0, abs=0.25)
    second = decide(three_greedy, 3000, state=["l"])
    assert (second.action, second.values["r"]) == ("r", pytest.approx(6.0, abs=0.25))


def test_rewards_on_the_way_count(paid_on_the_way: Any) -> None:
    decision = decide(paid_on_the_way, 200)
    assert decision.action == "early"
    assert decision.values == {"late": 2.0, "early": 3.0}


def test_simulations_add_up_to_the_visits_of_the_root(tic_tac_toe: Any) -> None:
    decision = decide(tic_tac_toe, 300)
    assert decision.simulations == sum(decision.visits.values()) == 300
    assert decision.errors == {}
    assert decision.fallback is None


def test_winning_move_is_found(tic_tac_toe: Any) -> None:
    assert decide(tic_tac_toe, 200, state={"board": "xx.oo...."}).action == "2"


def test_losing_threat_is_blocked(tic_tac_toe: Any) -> None:
    assert decide(tic_tac_toe, 1000, state={"board": "x.xo....."}).action == "1"


def test_same_seed_gives_the_same_decision_and_another_seed_another(tic_tac_toe: Any) -> None:
    assert decide(tic_tac_toe, seed=3) == decide(tic_tac_toe, seed=3)
    assert decide(tic_tac_toe, seed=3).visits != decide(tic_tac_toe, seed=4).visits


def test_state_that_was_given_is_not_changed(tic_tac_toe: Any) -> None:
    state = {"board": "x...o...."}
    before = copy.deepcopy(state)
    decide(tic_tac_toe, state=state)
    assert state == before


def test_widening_limits_the_children_of_the_root(tic_tac_toe: Any) -> None:
    decision = decide(tic_tac_toe, 15, widening_coefficient=1.0, widening_minimum=2)
    assert len(decision.visits) == 4  # 1.0 * sqrt(15) rounded up, before the last simulation
    assert len(decide(tic_tac_toe, 15).visits) == 9


def test_only_legal_action_is_played_without_a_search(paid_on_the_way: Any) -> None:
    decision = decide(paid_on_the_way, state=["early"])
    assert (decision.action, decision.simulations) == ("go", 0)


def test_depth_of_one_leaves_the_rest_to_rollouts(tic_tac_toe: Any) -> None:
    decision = decide(tic_tac_toe, 200, max_depth=1)
    assert decision.simulations == 200


def test_value_function_is_used_at_the_leaves(tic_tac_toe: Any) -> None:
    class Valued(type(tic_tac_toe)):  # type: ignore[misc]
        def value(self, state: Any, player: int) -> float:
            centre = state["board"][4]
            return 0.0 if centre == "." else (0.5 if centre == "xo"[player] else -0.5)

    decision = decide(Valued(), 30, leaf="value", max_depth=1)
    assert decision.action == "4"
    assert decision.values["4"] == 0.5


def test_value_at_a_leaf_does_not_count_its_reward_twice(paid_on_the_way: Any) -> None:
    class Valued(type(paid_on_the_way)):  # type: ignore[misc]
        def value(self, state: Any, player: int) -> float:
            later = {"early": 3.0, "late": 2.0}[state[0]] if len(state) == 1 else self.rewards(state)[player]
            return float(later)

    game = Valued(paid_on_the_way.root, 1, "general_sum", 0.0, 3.0, perfect=True)
    assert decide(game, 40, leaf="value").values == {"late": 2.0, "early": 3.0}


def test_errors_of_the_model_are_counted_and_their_simulations_dropped(tic_tac_toe: Any) -> None:
    class Flawed(type(tic_tac_toe)):  # type: ignore[misc]
        def apply_action(self, state: Any, action: str) -> Any:
            if action == "0":
                raise KeyError("corner")
            return super().apply_action(state, action)

    decision = decide(Flawed(), 300, max_depth=1, rollouts=1)
    assert set(decision.errors) == {"KeyError: 'corner'"}
    assert decision.fallback is not None  # nearly every random game meets the corner
    assert "KeyError" in decision.fallback


def test_rare_errors_leave_the_search_standing(tic_tac_toe: Any) -> None:
    class Flawed(type(tic_tac_toe)):  # type: ignore[misc]
        def apply_action(self, state: Any, action: str) -> Any:
            if state["board"].count(".") == 1:
                raise ValueError
            return super().apply_action(state, action)

    decision = decide(Flawed(), 300, state={"board": "xx.oo...."})
    assert decision.action == "2"
    assert decision.fallback is None
    assert decision.simulations + sum(decision.errors.values()) == 300


def test_memory_error_is_not_swallowed(tic_tac_toe: Any) -> None:
    class Hungry(type(tic_tac_toe)):  # type: ignore[misc]
        def apply_action(self, state: Any, action: str) -> Any:
            raise MemoryError

    with pytest.raises(MemoryError):
        decide(Hungry())


def test_missing_state_is_refused(tic_tac_toe: Any) -> None:
    with pytest.raises(SearchFailedError, match="no state"):
        planner.make(tic_tac_toe, PlannerConfig()).choose(Position(0, []), random.Random(0))


@pytest.mark.parametrize(
    ("function", "answer", "message"),
    [
        ("legal_actions", 5, "legal_actions returned a int, expected a list of strings"),
        ("legal_actions", ["0", None], "legal_actions returned a list that holds a NoneType"),
        ("current_player", "x", "current_player returned a str, expected a whole number"),
        ("current_player", True, "current_player returned a bool, expected a whole number"),
    ],
)
def test_model_that_breaks_the_types_at_the_root_is_at_fault(
    tic_tac_toe: Any, function: str, answer: Any, message: str
) -> None:
    game = type("Broken", (type(tic_tac_toe),), {function: lambda self, state: answer})()
    with pytest.raises(SearchFailedError, match=message):
        decide(game)


def best_replies(game: Any, state: Any, known: dict[str, tuple[float, list[str]]]) -> tuple[float, list[str]]:
    """Returns the value to x, and all the optimal actions."""
    board = state["board"]
    if board in known:
        return known[board]
    if game.current_player(state) < 0:
        known[board] = (game.rewards(state)[0], [])
        return known[board]
    sign = 1.0 if game.current_player(state) == 0 else -1.0
    values = {
        action: sign * best_replies(game, game.apply_action(state, action), known)[0]
        for action in game.legal_actions(state)
    }
    top = max(values.values())
    known[board] = (sign * top, [action for action, value in values.items() if value == top])
    return known[board]


def losses_against_perfect_play(game: Any, seat: int, simulations: int, most_positions: int) -> int:
    """Plays the search against every optimal reply, deciding each position that arises once.

    The search may meet at most `most_positions` positions of its own.
    """
    known: dict[str, tuple[float, list[str]]] = {}
    decided: dict[str, str] = {}
    open_states = [game.initial_state()]
    losses = 0
    while open_states:
        state = open_states.pop()
        player = game.current_player(state)
        if player < 0:
            losses += game.rewards(state)[seat] < 0
        elif player == seat:
            if state["board"] not in decided:
                assert len(decided) < most_positions
                decided[state["board"]] = decide(game, simulations, seed=len(decided), state=state).action
                open_states.append(game.apply_action(state, decided[state["board"]]))
        else:
            replies = best_replies(game, state, known)[1]
            open_states.extend(game.apply_action(state, action) for action in replies)
    return losses


@pytest.mark.parametrize("seat", [0, 1])
def test_tic_tac_toe_against_perfect_play_is_not_lost(tic_tac_toe: Any, seat: int) -> None:
    assert losses_against_perfect_play(tic_tac_toe, seat, simulations=1000, most_positions=500) == 0


@pytest.mark.slow
@pytest.mark.parametrize("seat", [0, 1])
def test_tic_tac_toe_is_never_lost_at_ten_thousand_simulations(tic_tac_toe: Any, seat: int) -> None:
    assert losses_against_perfect_play(tic_tac_toe, seat, simulations=10_000, most_positions=500) == 0


def test_a_limit_of_time_ends_a_search_after_one_simulation_at_least(tic_tac_toe: Any) -> None:
    assert decide(tic_tac_toe, 10**9, seconds=1e-9).simulations == 1
    assert 1 < decide(tic_tac_toe, 10**9, seconds=0.05).simulations < 10**9
    assert decide(tic_tac_toe, 40, seconds=1e6) == decide(tic_tac_toe, 40)


def test_settings_without_a_limit_of_time_are_stored_as_they_always_were() -> None:
    assert "seconds" not in PlannerConfig().to_json()
    assert PlannerConfig.from_json(PlannerConfig(seconds=2.0).to_json()) == PlannerConfig(seconds=2.0)


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan"), float("inf"), True, "5"])
def test_a_limit_that_is_no_time_is_refused(tic_tac_toe: Any, seconds: Any) -> None:
    with pytest.raises(PlannerConfigError, match=r"seconds is .*, expected a number above 0"):
        decide(tic_tac_toe, 10, seconds=seconds)
