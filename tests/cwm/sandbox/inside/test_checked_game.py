"""A program that answers with a wrong type is the program's fault wherever the exception stands, never ours."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from cwm.model.bundle import ModelBundle, describe
from cwm.model.world_model import WorldModel
from cwm.sandbox.inside.checked_game import CheckedGame, ContractError
from cwm.sandbox.inside.program import LoadedCode
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import Outcome, ProgramSource
from cwm.suite.build import BuildOptions, build, to_worker
from cwm.trajectories.recorded import collect
from games import registry
from games.posg.serialised import SerialisedPosg
from search.api import PlannerConfig
from search.session import PAYLOAD

PROGRAM = (Path(__file__).parents[3] / "data" / "programs" / "tic_tac_toe.py").read_text()
WRONG = ["None", "5", "2.5", "'x'", "{1, 2}", "{}", "[]", "[None]", "[[1]]", "object()", "True", "float('nan')"]
FUNCTIONS = [
    "apply_action",
    "get_current_player",
    "get_rewards",
    "get_legal_actions",
    "get_chance_outcomes",
    "get_observations",
]


INITIAL = {"board": [None] * 9, "mark": "x"}
INFO = describe(registry.make("tic_tac_toe").info)


def program(function: str, wrong: str) -> ProgramSource:
    return ProgramSource(f"{PROGRAM}\n\ndef {function}(*args):\n    return {wrong}\n", INITIAL, INFO)


def suite_of_one_game() -> list[Any]:
    with WorldModel(ModelBundle(PROGRAM, None, INITIAL, INFO, ""), Sandbox()) as model:
        games = collect(model, 1, 0)
    return [to_worker(test) for test in build(games, BuildOptions(kinds=("transition", "random_play")))]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_an_answer_of_a_wrong_type_is_never_counted_as_ours(function: str) -> None:
    sandbox = Sandbox(payload=PAYLOAD)
    suite = suite_of_one_game()
    config = asdict(PlannerConfig(simulations=20, rollouts=1))
    position = {"player": 0, "history": [[{}, None]], "state": INITIAL}
    for wrong in WRONG:
        with sandbox.start(program(function, wrong)) as worker:
            reply = worker.run_tests(suite, seed=0, per_test_s=10.0)
            assert not reply.outcome.is_ours, (wrong, reply.failure)
            assert len(reply.value) == len(suite), wrong
            reply = worker.payload("search.session", "choose", {"config": config, **position}, seed=0, timeout_s=30.0)
            assert not reply.outcome.is_ours, (wrong, reply.failure)


def test_the_guilty_function_is_named() -> None:
    with Sandbox(payload=PAYLOAD).start(program("get_legal_actions", "5")) as worker:
        reply = worker.payload("search.session", "playouts", {"games": 1}, seed=0, timeout_s=30.0)
    assert reply.outcome is Outcome.MODEL_ERROR
    assert reply.failure is not None
    assert reply.failure.message == "get_legal_actions must return a list of strings, got 5"


@pytest.mark.parametrize("reward", ["10**400", "float('inf')", "float('nan')", "True"])
def test_the_step_is_named_whose_reward_no_float_can_hold(reward: str) -> None:
    game = registry.make("tiger-2a")
    assert isinstance(game, SerialisedPosg)
    source = f"def move(state, actions, choose):\n    return state, [0, {reward}], [False, False]\n"
    given = {"source": source, "initial_state": None, "info": describe(game.info, game.model.info)}
    checked = CheckedGame(LoadedCode(given).instantiate())
    assert checked.posg is not None
    with pytest.raises(ContractError, match="move must return rewards: 2 finite numbers, got "):
        checked.posg.move("left", ("listen", "listen"), lambda _, outcomes: outcomes[0][0])
    assert checked.violation is not None


def test_a_fault_of_the_caller_stays_ours() -> None:
    with Sandbox(payload=PAYLOAD).start(ProgramSource(PROGRAM, INITIAL, INFO)) as worker:
        reply = worker.payload("search.session", "choose", {"config": {"speed": 1}}, seed=0, timeout_s=30.0)
    assert reply.outcome is Outcome.INFRA_ERROR


@pytest.mark.parametrize("wrong", [*WRONG, "[0.5, 0.5]", "[float('nan')] * len(legal_actions)", "{'x1': 1.0}"])
def test_a_prior_of_a_wrong_type_is_never_counted_as_ours(wrong: str) -> None:
    prior = f"def policy_prior(state, legal_actions, player_id):\n    return {wrong}\n"
    config = PlannerConfig(simulations=20, rollouts=1, selection="puct", prior="policy").to_json()
    asked = {"config": config, "player": 0, "history": [[{}, None]], "state": INITIAL}
    with Sandbox(payload=PAYLOAD).start(ProgramSource(PROGRAM, INITIAL, INFO, prior_source=prior)) as worker:
        reply = worker.payload("search.session", "choose", asked, seed=0, timeout_s=30.0)
    assert not reply.outcome.is_ours, reply.failure
