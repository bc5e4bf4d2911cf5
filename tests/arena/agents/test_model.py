import textwrap
from dataclasses import asdict, replace
from typing import Any

import pytest

from arena.agents.api import InfrastructureError, RandomAgent, ScriptedAgent
from arena.agents.model import ModelAgent, planner_settings
from arena.machine.runtime import Runtime
from arena.matches.match import GameRecord, play
from cwm.model.bundle import ModelBundle
from cwm.sandbox.inside.program import LoadedCode
from cwm.sandbox.wire.api import ProgramSource
from games.api import Game, GameInfo
from search.api import PlannerConfig

NIM = textwrap.dedent(
    """
    def get_current_player(state):
        return -4 if state["left"] == 0 else state["turn"]

    def get_player_name(player_id):
        return {-1: "chance", -4: "terminal"}.get(player_id, f"player {player_id}")

    def get_legal_actions(state):
        return [f"take {n}" for n in (1, 2, 3) if n <= state["left"]]

    def get_chance_outcomes(state):
        return []

    def apply_action(state, action):
        return {"left": state["left"] - int(action.split()[1]), "turn": 1 - state["turn"]}

    def get_rewards(state):
        if state["left"]:
            return [0.0, 0.0]
        return [-1.0, 1.0] if state["turn"] == 0 else [1.0, -1.0]

    def get_observations(state):
        return [dict(state), dict(state)]

    def value_function(state, player_id):
        return get_rewards(state)[player_id]
    """
)
"""Nine sticks; who takes the last one wins: the first player, by leaving a multiple of four."""

GUESS = textwrap.dedent(
    """
    import random

    def get_current_player(state):
        if state["coin"] is None:
            return -1
        return len(state["calls"]) if len(state["calls"]) < 2 else -4

    def get_player_name(player_id):
        return {-1: "chance", -4: "terminal"}.get(player_id, f"player {player_id}")

    def get_legal_actions(state):
        return ["heads", "tails"] if get_current_player(state) != -4 else []

    def get_chance_outcomes(state):
        return [("heads", 0.5), ("tails", 0.5)] if state["coin"] is None else []

    def apply_action(state, action):
        if state["coin"] is None:
            return {"coin": action, "calls": []}
        return {"coin": state["coin"], "calls": state["calls"] + [action]}

    def get_rewards(state):
        if len(state["calls"]) < 2:
            return [0.0, 0.0]
        return [5.0, 5.0] if state["calls"] == [state["coin"]] * 2 else [-5.0, -5.0]

    def get_observations(state):
        return [{"coin": state["coin"], "calls": state["calls"]}, {"coin": None, "calls": state["calls"]}]

    def resample_history(obs_action_history, player_id):
        seen, _ = obs_action_history[-1]
        coin = seen["coin"] if player_id == 0 else random.choice(["heads", "tails"])
        return [coin, *seen["calls"]]
    """
)
"""The first player sees a coin and calls it, the second sees the call alone and calls too: both right, both win."""

NIM_INFO = GameInfo("nim", 2, "win_loss_draw", -1.0, 1.0, True, False, ("player 0", "player 1"), 9)
GUESS_INFO = GameInfo("guess", 2, "identical", -5.0, 5.0, False, True, ("player 0", "player 1"), 2)


def nim(source: str = NIM) -> ProgramSource:
    return ProgramSource(source, {"left": 9, "turn": 0}, asdict(NIM_INFO))


def guess() -> ProgramSource:
    return ProgramSource(GUESS, {"coin": None, "calls": []}, asdict(GUESS_INFO))


def true_game(program: ProgramSource) -> Game:
    return LoadedCode(asdict(program)).instantiate()


def agent(program: ProgramSource, timeout_s: float = 20.0, workers: int = 1, **settings: Any) -> ModelAgent:
    config = PlannerConfig(**{"simulations": 200, "rollouts": 1, **settings})
    return ModelAgent(program, config, Runtime(move_timeout_s=timeout_s), "model", workers=workers)


def against_random(program: ProgramSource, **settings: Any) -> GameRecord:
    return play(true_game(nim()), [agent(program, **settings), RandomAgent()], 0, [1, 2], "process")


@pytest.mark.parametrize("leaf", ["rollout", "value"])
def test_planner_on_a_right_model_wins_a_won_game(leaf: str) -> None:
    found = against_random(nim(), leaf=leaf)
    assert found.returns == (1.0, -1.0)
    assert found.actions[0] == (0, "take 1")
    assert (found.forfeit, found.fallbacks, found.model_errors) == (None, ({}, {}), ({}, {}))
    assert found.sandbox == "process"


def test_same_seed_gives_the_same_game_in_fresh_workers() -> None:
    games = [play(true_game(guess()), [agent(guess(), algorithm="ismcts"), RandomAgent()], 3, [1, 2]) for _ in range(2)]
    assert games[0].actions == games[1].actions


def test_planner_follows_what_its_partner_said_from_its_own_history_alone() -> None:
    seats = [agent(guess(), algorithm="ismcts"), ScriptedAgent(["heads"])]
    deals = [play(true_game(guess()), seats, seed, [1, 2]) for seed in range(10)]
    assert {record.actions[0][1] for record in deals} == {"heads", "tails"}
    # With a partner who plays at random in its model, calling the coin it sees is still the better half.
    assert all(record.actions[1][1] == record.actions[0][1] for record in deals)


def test_program_that_does_not_load_forfeits_by_crash() -> None:
    found = against_random(nim("def broken(:"))
    assert found.forfeit is not None
    assert (found.forfeit.kind, found.forfeit.seat) == ("crash", 0)
    assert "SyntaxError" in found.forfeit.detail
    assert found.returns == (-1.0, 1.0)


def test_program_that_never_returns_forfeits_by_timeout() -> None:
    endless = NIM.replace("def get_legal_actions(state):", "def get_legal_actions(state):\n    while True: pass\n")
    found = against_random(nim(endless), timeout_s=1.0)
    assert found.forfeit is not None
    assert found.forfeit.kind == "timeout"


def test_program_that_ends_its_process_forfeits_by_crash() -> None:
    exits = NIM.replace("def get_legal_actions(state):", "def get_legal_actions(state):\n    import os; os._exit(0)\n")
    found = against_random(nim(exits))
    assert found.forfeit is not None
    assert found.forfeit.kind == "crash"


def test_program_with_wrong_actions_forfeits_by_an_illegal_one() -> None:
    wrong = NIM.replace("for n in (1, 2, 3)", "for n in (4, 5)")
    found = against_random(nim(wrong))
    assert found.forfeit is not None
    assert found.forfeit.kind == "illegal"


def test_program_without_actions_forfeits_by_an_empty_answer() -> None:
    found = against_random(nim(NIM.replace("for n in (1, 2, 3)", "for n in ()")))
    assert found.forfeit is not None
    assert found.forfeit.kind == "empty"


def test_level_that_is_not_to_be_had_is_no_forfeit() -> None:
    config = PlannerConfig(simulations=10)
    unavailable = ModelAgent(nim(), config, Runtime(level="seatbelt"), "model")
    with pytest.raises(InfrastructureError):
        play(true_game(nim()), [unavailable, RandomAgent()], 0, [1, 2])


def test_workers_are_closed_with_the_game() -> None:
    seated = agent(nim())
    play(true_game(nim()), [seated, RandomAgent()], 0, [1, 2])
    assert seated._workers == []


def test_several_workers_find_the_winning_move_and_the_same_one_again() -> None:
    games = [against_random(nim(), workers=3) for _ in range(2)]
    assert games[0].returns == (1.0, -1.0)
    assert games[0].actions == games[1].actions
    assert games[0].actions[0] == (0, "take 1")


def test_there_are_no_more_workers_than_simulations() -> None:
    seated = agent(nim(), simulations=2, workers=5)
    seated.start(NIM_INFO, 0, 1)
    assert len(seated._workers) == 2
    seated.close()


def test_failure_of_one_of_several_workers_is_the_agents() -> None:
    exits = NIM.replace("def get_legal_actions(state):", "def get_legal_actions(state):\n    import os; os._exit(0)\n")
    found = against_random(nim(exits), workers=2)
    assert found.forfeit is not None
    assert found.forfeit.kind == "crash"


def test_a_planner_on_a_model_takes_what_the_model_has_to_offer_and_leaves_the_rest() -> None:
    base = PlannerConfig(simulations=7, rollouts=3)
    plain = ModelBundle("", None, {}, {}, "r")
    assert planner_settings(plain, base) == replace(base, leaf="rollout")
    best = replace(plain, value_source="def value_function(): ...", metadata={"plays_with": {"selection": "puct"}})
    assert planner_settings(best, base) == replace(base, leaf="value", selection="puct")


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_planner_on_a_model_considered_is_told_and_the_game_stays_the_same(workers: int) -> None:
    def game(explain: bool) -> GameRecord:
        searching = agent(guess(), workers=workers, algorithm="ismcts")
        return play(true_game(guess()), [searching, ScriptedAgent(["heads"])], 3, [1, 2], explain=explain)

    plain, told = game(False), game(True)
    assert (plain.actions, plain.thoughts) == (told.actions, {})
    [thought] = told.thoughts.values()
    assert told.actions[1][1] in [move["action"] for move in thought["moves"]]
    assert sum(move["visits"] for move in thought["moves"]) == thought["simulations"]
