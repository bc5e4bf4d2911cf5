"""Functions beside a program with a joint step that keep to nothing: each check ends in time, with a sentence that says
what; and so does a planner that was given one all the same."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from arena.agents.api import AgentFailure, Turn
from arena.agents.model import JointModelAgent
from arena.machine.runtime import Runtime
from cwm.functions.joint.check import JointChecker
from cwm.sandbox.wire.api import Limits, ProgramSource
from cwm.synthesis.task import described
from cwm.synthesis.testing import TesterSettings
from games.posg.serialised import SerialisedPosg
from games.registry import make
from search.posg.config import PosgPlannerConfig

FUNCTIONS = sorted((Path(__file__).parent / "beside").glob("*.py"))
SOURCE = (Path(__file__).parents[1] / "data" / "joint_programs" / "tiger-2a.py").read_text("utf-8")
CHECKS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "prior_source": ("policy", "repeat_policy", {"games": 2}),
    "value_source": ("value", "repeat_value", {"games": 2, "bounds": True}),
    "inference_source": ("inference", "", {"games": 2, "points": 10, "draws": 2}),
}
PLANNED: dict[str, dict[str, Any]] = {
    "prior_source": {"method": "potmmcp", "types": ("prior",), "episodes": 1},
    "value_source": {"method": "pomcp", "leaf": "value"},
    "inference_source": {"method": "pomcp", "belief": "inferred"},
}
TIGER = make("tiger-2a")
assert isinstance(TIGER, SerialisedPosg)
SETTINGS = TesterSettings(total_seconds=1.5, limits=Limits(memory_mb=256))
GIVEN: Any = SimpleNamespace(
    source=SOURCE, initial_state=None, info=TIGER.info, joint=TIGER.model.info, tester=SETTINGS
)


def header(path: Path) -> dict[str, str]:
    return dict(re.findall(r"^# ([a-z]+): (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE))


def slowly(path: Path) -> Any:
    return pytest.param(path, marks=pytest.mark.slow if "slow" in header(path) else (), id=path.stem)


@pytest.mark.parametrize("path", [slowly(path) for path in FUNCTIONS])
def test_a_check_names_what_is_wrong_with_a_function_and_ends_in_time(path: Path) -> None:
    about = header(path)
    check, repeat, argument = CHECKS[about["place"]]
    place: Any = about["place"]
    (report,) = JointChecker(GIVEN, place, check, repeat, argument)([path.read_text("utf-8")])
    assert about["message"] in " ".join(report.problems)
    assert all(len(problem) < 6_000 for problem in report.problems)


@pytest.mark.slow
@pytest.mark.parametrize("path", FUNCTIONS, ids=lambda path: path.stem)
def test_a_planner_with_such_a_function_moves_or_forfeits_in_time(path: Path) -> None:
    place = header(path)["place"]
    functions: dict[str, Any] = {place: path.read_text("utf-8")}
    program = ProgramSource(SOURCE, None, described(TIGER.info, GIVEN.joint), **functions)
    config = PosgPlannerConfig(simulations=20, particles=20, **PLANNED[place])
    runtime = Runtime(memory_mb=256, move_timeout_s=2.0)
    agent = JointModelAgent(program, config, runtime, "hostile")
    shown = {"agent": 0, "step": 0, "seen": {"growl": None, "creak": None}}
    legal = ("open left", "open right", "listen")
    agent.start(TIGER.info, 0, 0)
    try:
        ended = _moved(agent, Turn(0, ((shown, None),), None, legal, None, 0), legal)
    finally:
        agent.close()
    assert ended == header(path).get("ends", "a move")


def _moved(agent: JointModelAgent, turn: Turn, legal: tuple[str, ...]) -> str:
    try:
        move = agent.act(turn)
    except AgentFailure as failure:
        return failure.kind
    assert move.action in legal
    return "a move"
