"""Programs that ask `choose` for what it cannot give: each ends in time, with a sentence that says what."""

import re
from pathlib import Path
from typing import Any

import pytest

from cwm.model import joint_model
from cwm.model.bundle import ModelBundle
from cwm.model.joint_model import JointWorldModel
from cwm.model.world_model import WorldModelError
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import Limits, ProgramSource
from cwm.suite.execution import RunOptions, run_tests
from cwm.suite.types import UnitTest
from games.posg.registry import make
from search.posg import session
from search.posg.config import PosgPlannerConfig

PROGRAMS = sorted((Path(__file__).parent / "draws").glob("*.py"))
REST = """

def active(state):
    return [0, 1]


def legal_actions(state, agent):
    return ["open left", "open right", "listen"]


def move(state, actions, choose):
    return state, [0.0, 0.0], [False, False]


def observe(state, actions, choose):
    return [None, None]
"""
LIMITS = Limits(memory_mb=256, wall_s=1.0)
START: dict[str, Any] = {"num_agents": 2, "before": [], "actions": None}
INFO: dict[str, Any] = {
    "id": "hostile",
    "num_players": 2,
    "utility": "general_sum",
    "min_utility": 0.0,
    "max_utility": 1.0,
    "perfect_information": False,
    "has_chance": True,
    "player_names": ["a", "b"],
    "joint": vars(make("tiger-2a").info),
}
DATA: dict[str, dict[str, Any]] = {
    "joint_play": {"num_agents": 2, "actions": [["listen"]] * 2, "max_steps": 3},
    "distribution": START | {"came": {"observations": [None, None]}, "probability": 1.0},
}


def header(path: Path) -> dict[str, str]:
    return dict(re.findall(r"^# ([a-z_]+): (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=pytest.mark.slow if "caught" in path.stem else ()) for path in PROGRAMS],
    ids=lambda path: path.stem,
)
def test_a_program_gets_nothing_from_choose_that_it_cannot_give(path: Path) -> None:
    about = header(path)
    kind: Any = about.get("kind", "joint_play")
    program = ProgramSource(path.read_text(encoding="utf-8") + REST, None, INFO)
    test = UnitTest("draws", kind, DATA[kind], -1, 0)
    (result,) = run_tests(program, [test], Sandbox(Limits(memory_mb=256)), RunOptions(per_test_s=1.0))
    assert (result.field, result.outcome.is_ours) == (about["field"], False)
    assert about["message"] in result.message
    assert len(result.message) < 500


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=pytest.mark.slow if "caught" in path.stem else ()) for path in PROGRAMS],
    ids=lambda path: path.stem,
)
def test_a_game_on_such_a_program_is_refused_within_the_draws_of_one_start(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joint_model, "MOST_DRAWS", 20, raising=False)
    source = path.read_text(encoding="utf-8") + REST
    asked: list[str] = []

    def first(label: str, outcomes: Any) -> Any:
        asked.append(label)
        assert len(asked) <= 20, "draws are asked for without end"
        return outcomes[0][0]

    with JointWorldModel(ModelBundle(source, None, None, INFO, "rules"), Sandbox(LIMITS)) as model:
        if path.stem == "other_ways":
            assert model.initial_state(first) == 0  # its table changes at the third question, and here are two
            return
        with pytest.raises(WorldModelError) as refused:
            model.initial_state(first)
    assert not refused.value.reply.outcome.is_ours
    assert len(str(refused.value)) <= 2_000


def test_a_reward_that_no_float_can_hold_fails_random_play() -> None:
    source = "def initial_state(choose):\n    return 0\n" + REST.replace("[0.0, 0.0]", "[10**400, 0]")
    data = DATA["joint_play"] | {"actions": [["open left", "open right", "listen"]] * 2}
    told = source.replace("[None, None]", "[0, 0]")
    test = UnitTest("reward", "joint_play", data, -1, 0)
    (result,) = run_tests(ProgramSource(told, None, INFO), [test], Sandbox(LIMITS), RunOptions(per_test_s=5.0))
    assert (result.status, result.field) == ("fail", "rewards")
    assert "move must pay 2 finite numbers, got [1000" in result.message


@pytest.mark.slow
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_planner_beside_such_a_program_ends_and_never_through_a_fault_of_ours(path: Path) -> None:
    argument = {
        "config": PosgPlannerConfig(method="pomcp", simulations=20).to_json(),
        "player": 0,
        "history": [[{"agent": 0, "step": 0, "seen": None}, None]],
        "legal": ["open left", "open right", "listen"],
    }
    program = ProgramSource(path.read_text(encoding="utf-8") + REST, None, INFO)
    with Sandbox(Limits(memory_mb=256), payload=session.PAYLOAD).start(program) as worker:
        reply = worker.payload("search.posg.session", "choose", argument, seed=0, timeout_s=2.0)
    assert not reply.outcome.is_ours
    assert len(str(reply)) < 20_000
