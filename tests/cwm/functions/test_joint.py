"""Functions beside a program with a joint step: what is asked for, and what their checks say of right ones."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from arena.runs import inputs as run_inputs
from cwm.functions.joint.check import JointChecker
from cwm.functions.joint.kinds import JOINT_KINDS, every_kind, kinds_for
from cwm.functions.joint.task import history_of, moments, payments, samples
from cwm.functions.kinds import KINDS
from cwm.functions.one_shot import FunctionKind
from cwm.functions.types import FunctionCandidate, FunctionReport
from cwm.model.bundle import ModelBundle, describe
from cwm.synthesis.testing import TesterSettings
from cwm.trajectories.joint import joint_steps

DATA = Path(__file__).parents[2] / "data"
CHECKS: dict[str, tuple[Any, str, str, dict[str, Any]]] = {
    "policy": ("prior_source", "policy", "repeat_policy", {"games": 4}),
    "value": ("value_source", "value", "repeat_value", {"games": 3, "bounds": True}),
    "inference": ("inference_source", "inference", "", {"games": 3, "points": 20, "draws": 3}),
}


def given(game_id: str) -> Any:
    inputs = run_inputs.registered(game_id, 3, 0, joint=True)
    return SimpleNamespace(
        rules="RULES",
        info=inputs.info,
        initial_state=None,
        source=(DATA / "joint_programs" / f"{game_id}.py").read_text("utf-8"),
        telling=inputs.telling,
        recorded=inputs.train,
        joint=inputs.joint_info,
        tester=TesterSettings(total_seconds=20.0),
    )


TIGER = given("tiger-2a")
GIVEN = {"tiger-2a": TIGER, "cooperative-reaching": given("cooperative-reaching")}


@pytest.mark.parametrize("game_id", GIVEN)
@pytest.mark.parametrize("name", CHECKS)
def test_right_functions_pass_their_checks(game_id: str, name: str) -> None:
    place, check, repeat, argument = CHECKS[name]
    source = (DATA / "joint_functions" / f"{game_id}-{name}.py").read_text("utf-8")
    (report,) = JointChecker(GIVEN[game_id], place, check, repeat, argument)([source])
    assert report.problems == ()
    assert report.checked > 10
    assert report.calls_per_s is not None


@pytest.mark.parametrize("kind", JOINT_KINDS, ids=lambda kind: kind.name)
def test_a_prompt_holds_rules_agents_program_and_function_and_no_turns(kind: FunctionKind) -> None:
    assert kind.task is not None
    slow = FunctionCandidate(0, "CANDIDATE", "h", "slow", FunctionReport(("PROBLEM",), 12.5, 3))
    task = kind.task(TIGER)
    for text in (kind.prompt(task), kind.repair_prompt(task, slow, kind.config())):
        assert "RULES" in text
        assert "is called `agent_1`; all its actions" in text
        assert TIGER.source.strip() in text
        assert f"def {kind.function}(" in text
        assert "broken off after 20 steps" in text
        assert "get_legal_actions" not in text
        assert "INITIAL_STATE" not in text
        assert "player_id" not in text
    assert "- PROBLEM\n- It is too slow: it answers 12 calls a second" in text
    assert "CANDIDATE" in text


def test_examples_are_what_an_agent_was_told_and_did_and_what_happened() -> None:
    steps = joint_steps(TIGER.recorded[0])
    history = history_of(steps[:3], 1)
    assert [told for told, _ in history] == [step.observations[1] for step in steps[:3]]
    assert [action for _, action in history] == [steps[1].joint[1], steps[2].joint[1], None]  # type: ignore[index]
    assert f"history = {history_of(steps[:1], 0)!r}\nagent = 0\nlegal = ['open left'" in moments(TIGER)
    assert f"# what happened: [(None, {dict(steps[0].log)!r})]" in samples(TIGER)
    assert payments(TIGER).startswith("# Game 1: 20 steps, broken off; paid in all, undiscounted: [")


def test_each_sort_of_program_has_its_kinds_and_names_are_shared() -> None:
    assert [kind.name for kind in kinds_for(joint=True)] == ["value", "prior", "resample"]
    assert kinds_for(joint=False) == KINDS
    assert [kind.name for kind in every_kind()] == ["value", "prior", "vectors", "resample"]
    for kind in JOINT_KINDS:
        assert kind.result in {one.result for one in every_kind()}


def test_functions_beside_a_joint_step_fit_their_own_program_alone() -> None:
    info = describe(TIGER.info, TIGER.joint)
    joint = ModelBundle("one", None, None, info, "").with_function("resample", "def resample_history(): ...")
    assert (joint.beside, joint.program().inference_source) == (("resample",), "def resample_history(): ...")
    assert (joint.fits("one"), joint.fits("other")) == (True, False)
    in_turns = ModelBundle("one", "def value_function(): ...", {}, describe(TIGER.info), "")
    assert (in_turns.beside, in_turns.fits("other"), in_turns.program().inference_source) == (("value",), True, None)
