"""Any game, registered with OpenSpiel, runs under its tests and its own Python algorithms."""

import itertools
import pickle
import random
import subprocess
import sys
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy
from open_spiel.python.algorithms import cfr, expected_game_score, exploitability, ismcts, mcts

from games import registry
from games.adapters import spiel_game
from games.api import GameError, GameInfo, RendersText

_NUMBER = itertools.count()


def export(game_id: str, **options: Any) -> Any:
    """Registers a game under a fresh name."""
    return spiel_game.register(lambda: registry.make(game_id), f"python_export_{next(_NUMBER)}", **options)


def after(game: Any, *numbers: int) -> Any:
    state = game.new_initial_state()
    for number in numbers:
        state.apply_action(number)
    return state


class Coins:
    """Two players take 1 to 3 of 7 coins in turn and are paid a point a coin at once."""

    info = GameInfo("coins", 2, "general_sum", 0.0, 7.0, True, False, ("a", "b"), 7)

    def initial_state(self) -> Any:
        return {"left": 7, "turn": 0, "taken": 0}

    def current_player(self, state: Any) -> int:
        return int(state["turn"] % 2) if state["left"] else -4

    def legal_actions(self, state: Any) -> list[str]:
        return [f"take {count}" for count in range(1, min(3, state["left"]) + 1)]

    def chance_outcomes(self, state: Any) -> list[tuple[str, float]]:
        return []

    def apply_action(self, state: Any, action: str) -> Any:
        taken = int(action.split()[1])
        return {"left": state["left"] - taken, "turn": state["turn"] + 1, "taken": taken}

    def rewards(self, state: Any) -> list[float]:
        paid = [0.0, 0.0]
        if state["taken"]:
            paid[(state["turn"] - 1) % 2] = float(state["taken"])
        return paid

    def observations(self, state: Any) -> list[dict[str, Any]]:
        return [dict(state), dict(state)]


@pytest.mark.parametrize("game_id", ["tic_tac_toe", "connect_four", "kuhn_poker", "leduc_poker", "yokai-9c-2p"])
def test_exported_game_passes_open_spiels_own_test(game_id: str) -> None:
    pyspiel.random_sim_test(export(game_id), num_sims=10, serialize=True, verbose=False)


def test_action_numbers_are_those_of_the_native_game() -> None:
    game, native = export("leduc_poker"), pyspiel.load_game("leduc_poker")
    assert game.num_distinct_actions() == native.num_distinct_actions()
    assert game.max_chance_outcomes() == native.max_chance_outcomes()
    state, other = after(game, 0, 3, 1), after(native, 0, 3, 1)
    assert state.legal_actions() == other.legal_actions()
    assert state.action_to_string(1, 2) == other.action_to_string(1, 2) == "Raise"


def test_cfr_on_exported_kuhn_poker_finds_its_value() -> None:
    game = export("kuhn_poker")
    solver = cfr.CFRPlusSolver(game)
    for _ in range(200):
        solver.evaluate_and_update_policy()
    average = solver.average_policy()
    values = expected_game_score.policy_value(game.new_initial_state(), [average, average])
    assert values == pytest.approx([-1 / 18, 1 / 18], abs=1e-3)
    assert exploitability.exploitability(game, average) < 5e-3


@pytest.mark.slow
def test_exploitability_of_uniform_play_on_leduc_is_that_of_the_native_game() -> None:
    game, native = export("leduc_poker"), pyspiel.load_game("leduc_poker")
    ours = exploitability.exploitability(game, policy.UniformRandomPolicy(game))
    assert ours == pytest.approx(pyspiel.exploitability(native, pyspiel.UniformRandomPolicy(native)), abs=1e-12)


@pytest.mark.slow
def test_cfr_on_leduc_goes_step_by_step_as_on_the_native_game() -> None:
    game, native = export("leduc_poker"), pyspiel.load_game("leduc_poker")
    values = []
    for one in (game, native):
        solver = cfr.CFRSolver(one)
        for _ in range(5):
            solver.evaluate_and_update_policy()
        values.append(exploitability.exploitability(one, solver.average_policy()))
    assert values[0] == pytest.approx(values[1], abs=1e-9)


def test_information_states_of_leduc_are_as_many_as_the_native_ones() -> None:
    assert len(policy.TabularPolicy(export("leduc_poker")).states) == 936


def test_mcts_bot_takes_the_win() -> None:
    game = export("tic_tac_toe")
    state = game.new_initial_state()
    for name in ("x(0,0)", "o(1,0)", "x(0,1)", "o(1,1)"):
        state.apply_action(state.string_to_action(name))
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(1))
    bot = mcts.MCTSBot(game, 1.4, 200, evaluator, random_state=np.random.RandomState(2))
    assert state.action_to_string(0, bot.step(state)) == "x(0,2)"


def test_ismcts_bot_never_folds_a_pair_of_kings() -> None:
    game = export("leduc_poker")
    state = after(game, 4, 0, 1, 1, 5, 1, 2)
    assert state.legal_actions() == [0, 1, 2]
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(1))
    bot = ismcts.ISMCTSBot(game, evaluator, 10.0, 300, random_state=np.random.RandomState(2))
    assert dict(bot.get_policy(state))[0] == 0.0
    bot.set_resampler(spiel_game.resampler(random.Random(3)))
    assert dict(bot.get_policy(state))[0] == 0.0


def test_seeded_resampler_draws_the_same_states_again() -> None:
    state = after(export("leduc_poker"), 1, 4, 1)
    draws = []
    for _ in range(2):
        resample = spiel_game.resampler(random.Random(9))
        draws.append([str(resample(state, 1)) for _ in range(20)])
    assert draws[0] == draws[1]
    assert len(set(draws[0])) == 5


def test_resampled_state_is_the_same_information_state() -> None:
    state = after(export("leduc_poker"), 1, 4, 1, 2)
    resample = spiel_game.resampler(random.Random(0))
    for other in (resample(state, 0) for _ in range(20)):
        assert other.information_state_string(0) == state.information_state_string(0)
        assert other.current_player() == 0
        assert len(other.history()) == len(state.history())


def test_resampler_that_misses_the_information_state_is_reported() -> None:
    game = registry.make("kuhn_poker")
    game.resample_history = lambda history, player, rng: ["Deal:2", "Deal:1"]
    exported = spiel_game.register(lambda: game, "python_export_wrong_resampler")
    with pytest.raises(GameError, match="10 histories from resample_history ended in other information states"):
        spiel_game.resampler(random.Random(0))(after(exported, 0, 1), 0)


def test_game_without_inference_refuses_to_resample() -> None:
    game = spiel_game.register(lambda: registry.make("open_spiel:kuhn_poker"), "python_export_no_inference")
    with pytest.raises(GameError, match="offers no resample_history"):
        spiel_game.resampler(random.Random(0))(after(game, 0, 1), 0)


def test_information_state_holds_the_own_history_and_no_more() -> None:
    game = export("kuhn_poker")
    assert after(game, 0, 1).information_state_string(0) == after(game, 0, 2).information_state_string(0)
    assert after(game, 0, 1).information_state_string(1) != after(game, 0, 2).information_state_string(1)
    text = after(game, 0, 1, 0, 1).information_state_string(0)
    assert text.startswith("player 0\n")
    assert text.count(" -> Pass\n") == 1


def test_game_may_bring_its_own_information_state_string() -> None:
    class Spoken(Coins):
        def information_state_string(self, state: Any, player: int) -> str:
            return f"player {player}: {state['left']} left"

    game = spiel_game.register(Spoken, "python_export_spoken")
    assert after(game, 2).information_state_string(1) == "player 1: 4 left"


def test_state_as_a_string_is_the_whole_state_and_how_it_came_about() -> None:
    game = spiel_game.register(Coins, "python_export_told")
    assert str(game.new_initial_state()) == "left: 7\nturn: 0\ntaken: 0\nactions: []"
    assert str(after(game, 1, 0)) == 'left: 4\nturn: 2\ntaken: 1\nactions: ["take 2", "take 1"]'
    # The same coins are left, and the players have taken others.
    assert str(after(game, 0, 1)).splitlines()[:2] == str(after(game, 1, 0)).splitlines()[:2]
    assert str(after(game, 0, 1)) != str(after(game, 1, 0))
    drawn = registry.make("tic_tac_toe")
    assert isinstance(drawn, RendersText)
    assert str(export("tic_tac_toe").new_initial_state()) == f"{drawn.render(drawn.initial_state())}\nactions: []"


def test_clone_goes_its_own_way() -> None:
    state = after(export("tic_tac_toe"), 0)
    copy = state.clone()
    copy.apply_action(copy.legal_actions()[0])
    assert len(state.history()) == 1
    assert len(copy.history()) == 2
    assert str(state) != str(copy)


def test_state_survives_pickling() -> None:
    state = after(export("leduc_poker"), 0, 3, 1)
    again = pickle.loads(pickle.dumps(state))  # noqa: S301  made in this very line
    assert again.information_state_string(0) == state.information_state_string(0)
    assert again.legal_actions() == state.legal_actions()


def test_rewards_on_the_way_are_saved_up_or_paid_at_once() -> None:
    saved = spiel_game.register(Coins, "python_export_coins")
    paid = spiel_game.register(Coins, "python_export_coins_at_once", reward_model="rewards")
    assert saved.get_type().reward_model == pyspiel.GameType.RewardModel.TERMINAL
    assert (after(saved, 2).rewards(), after(saved, 2).returns()) == ([0.0, 0.0], [0.0, 0.0])
    assert (after(paid, 2, 0).rewards(), after(paid, 2, 0).returns()) == ([0.0, 1.0], [3.0, 1.0])
    for game in (saved, paid):
        end = after(game, 2, 0, 2)
        assert end.is_terminal()
        assert end.returns() == [6.0, 1.0]
        pyspiel.random_sim_test(game, num_sims=5, serialize=True, verbose=False)


def test_actions_are_collected_and_sorted_where_the_game_does_not_list_them() -> None:
    game = spiel_game.register(Coins, "python_export_coins_collected")
    assert [game.new_initial_state().action_to_string(0, number) for number in range(3)] == [
        "take 1",
        "take 2",
        "take 3",
    ]


def test_action_outside_the_list_is_a_clear_error() -> None:
    game = spiel_game.register(Coins, "python_export_coins_short", all_actions=["take 1", "take 2"])
    with pytest.raises(GameError, match="the action 'take 3' is not among the 2 known; pass the list"):
        game.new_initial_state().legal_actions()


def test_parameters_reach_the_factory() -> None:
    spiel_game.register(
        lambda players, memory: registry.make(f"yokai-9c-{players}p", memory=memory),
        "python_export_parameters",
        parameters={"players": 2, "memory": False},
        players=(2, 4),
    )
    assert pyspiel.load_game("python_export_parameters").num_players() == 2
    three = pyspiel.load_game("python_export_parameters(players=3)")
    assert three.num_players() == 3
    assert "players=3" in str(three)


def test_taken_name_is_refused() -> None:
    with pytest.raises(GameError, match="OpenSpiel has a game 'leduc_poker' already"):
        spiel_game.register(lambda: registry.make("leduc_poker"), "leduc_poker")


def test_process_with_exported_games_ends_in_peace() -> None:
    code = (
        "from games import registry\nfrom games.adapters import spiel_game\n"
        "game = spiel_game.register(lambda: registry.make('kuhn_poker'), 'python_export')\n"
        "state = game.new_initial_state()\nstate.apply_action(0)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
