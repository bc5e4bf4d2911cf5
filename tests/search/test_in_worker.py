"""The planners inside a worker, beside a program, as they are used at play."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pytest

from cwm.sandbox.parent.host import Sandbox, Worker
from cwm.sandbox.wire.api import Outcome, ProgramSource
from games.api import GameInfo
from search import session

COIN = """
import random

INITIAL_CALLS = ["heads", "tails"]


def apply_action(state, action):
    if state["coin"] is None:
        return {**state, "coin": action}
    return {**state, "bid": action} if state["bid"] is None else {**state, "call": action}


def get_current_player(state):
    if state["coin"] is None:
        return -1
    return 0 if state["bid"] is None else (1 if state["call"] is None else -4)


def get_player_name(player_id):
    return {-1: "chance", -4: "terminal"}.get(player_id, f"player {player_id}")


def get_rewards(state):
    if state["call"] is None:
        return [0.0, 0.0]
    return [-1.0, 1.0] if state["call"] == state["coin"] else [1.0, -1.0]


def get_legal_actions(state):
    return {-1: INITIAL_CALLS, 0: ["high", "low"], 1: INITIAL_CALLS, -4: []}[get_current_player(state)]


def get_chance_outcomes(state):
    return [("heads", 0.75), ("tails", 0.25)] if state["coin"] is None else []


def get_observations(state):
    return [{"coin": state["coin"], "bid": state["bid"]}, {"bid": state["bid"]}]


def resample_history(obs_action_history, player_id):
    view = obs_action_history[-1][0]
    coin = view.get("coin") or ("heads" if random.random() < 0.75 else "tails")
    return [coin] if view["bid"] is None else [coin, view["bid"]]


def value_function(state, player_id):
    return float(get_rewards(state)[player_id])
"""

INFO = GameInfo("coin", 2, "zero_sum", -1.0, 1.0, False, True, ("first", "second"), 2)
PROGRAM = ProgramSource(COIN, {"coin": None, "bid": None, "call": None}, asdict(INFO))
QUICK = {"algorithm": "ismcts", "simulations": 400, "rollouts": 1, "exploration": 4.0}
POSITION = {"player": 1, "history": [[{"bid": "high"}, None]], "state": None}


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Sandbox(payload=session.PAYLOAD).start(PROGRAM) as started:
        assert started.loaded.outcome is Outcome.OK
        yield started


def ask(worker: Worker, function: str, argument: dict[str, Any], seed: int = 0) -> Any:
    reply = worker.payload("search.session", function, argument, seed=seed)
    assert reply.outcome is Outcome.OK, reply.failure
    return reply.value


@pytest.mark.parametrize("leaf", ["rollout", "value"])
def test_move_is_chosen_beside_the_program(worker: Worker, leaf: str) -> None:
    result = ask(worker, "choose", {"config": QUICK | {"leaf": leaf}, **POSITION})
    assert result["action"] == "heads"
    assert result["errors"] == {}
    assert result["simulations"] == 400


def test_same_seed_gives_the_same_decision_in_the_worker(worker: Worker) -> None:
    first, again = (ask(worker, "choose", {"config": QUICK, **POSITION}, seed=3) for _ in range(2))
    assert {**first, "seconds": 0} == {**again, "seconds": 0}


def test_games_speed_and_visited_states_come_from_the_worker(worker: Worker) -> None:
    seats = [QUICK | {"simulations": 20}, "random"]
    assert len(ask(worker, "play", {"seats": seats, "games": 2, "rotations": True})["games"]) == 4
    steps = ask(worker, "visited", {"seats": seats, "games": 1})["trajectories"][0]["steps"]
    assert [step["player"] for step in steps] == [-1, 0, 1, -4]
    assert ask(worker, "playouts", {"games": 5})["games"] == 5
    assert ask(worker, "benchmark", {"config": QUICK, "positions": [POSITION]})["simulations"] == 400


def test_planner_that_does_not_fit_the_program_is_an_error_in_words(worker: Worker) -> None:
    reply = worker.payload("search.session", "choose", {"config": {"algorithm": "mcts"}, **POSITION}, seed=0)
    assert reply.outcome is not Outcome.OK
    assert reply.failure is not None
    assert "perfect information" in reply.failure.message


def test_player_who_saw_the_coin_believes_in_one_history(worker: Worker) -> None:
    history = [[{"coin": "tails", "bid": None}, None]]
    result = ask(worker, "choose", {"config": QUICK, "player": 0, "history": history, "state": None})
    assert sum(result["visits"].values()) == 400
    assert result["belief"] == {"tries": 400, "accepted": 400, "distinct": 1, "loose": 0}


POLICY = """
def policy_prior(state, legal_actions, player_id):
    if player_id == 1:
        return [1.0 / len(legal_actions)] * len(legal_actions)
    return [0.1, 0.9] if state["coin"] == "heads" else [0.9, 0.1]
"""
"""Bids high with tails and low with heads."""


def test_belief_and_search_read_the_program_s_policy_in_the_worker() -> None:
    config = QUICK | {"selection": "puct", "prior": "policy", "belief_temper": 1.0, "belief_size": 2000}
    program = ProgramSource(COIN + POLICY, PROGRAM.initial_state, PROGRAM.info)
    with Sandbox(payload=session.PAYLOAD).start(program) as reading:
        argument = {"config": config | {"belief_mix": 0.0}, **POSITION, "report_belief": True}
        results = [ask(reading, "choose", argument, seed=3) for _ in range(2)]
    assert results[0]["action"] == "tails"
    heads = sum(weight for weight, state in results[0]["belief_states"] if state["coin"] == "heads")
    # Three quarters of 0.1 against one quarter of 0.9.
    assert heads == pytest.approx(0.25, abs=0.03)
    assert {**results[0], "seconds": 0} == {**results[1], "seconds": 0}
