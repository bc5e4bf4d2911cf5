"""Tests of programs with a joint step: right programs pass them all, and each mistake is told by its field."""

from collections.abc import Callable, Iterator
from functools import cache
from math import log
from pathlib import Path
from typing import Any

import pytest

from arena.runs import inputs
from arena.runs.task import make_task
from cwm.sandbox.inside import runner as tests_of_a_worker
from cwm.sandbox.inside.output import TailWriter
from cwm.sandbox.inside.program import LoadedCode, ProgramGame
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import Outcome, ProgramSource
from cwm.suite.build import parse_result, to_worker
from cwm.suite.contract import ContractOptions, verify
from cwm.suite.evaluation import LikelihoodGap
from cwm.suite.joint import tests_of as recorded_tests
from cwm.suite.rendering import render
from cwm.suite.types import UnitTest, UnitTestResult
from cwm.synthesis.task import SynthesisTask, described
from cwm.synthesis.testing import ProcessTester, TesterSettings
from games.posg.api import DescribesPosg, observation_to_json, state_to_json
from games.posg.registry import ids, make

PROGRAMS = Path(__file__).parents[2] / "data" / "joint_programs"
TIGER, REACHING = "tiger-2a", "cooperative-reaching"


@cache
def task_of(game: str) -> SynthesisTask:
    return make_task(inputs.registered(game, 1, 0, joint=True))


def source_of(game: str, *replacements: tuple[str, str]) -> str:
    source = (PROGRAMS / f"{game}.py").read_text(encoding="utf-8")
    for old, new in replacements:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


def results_of(game: str, source: str, tests: list[UnitTest] | None = None) -> Iterator[UnitTestResult]:
    """Runs tests in this process: the programs are the tests' own."""
    task = task_of(game)
    info = described(task.info, task.joint)
    loaded = LoadedCode({"source": source, "initial_state": None, "info": info}).instantiate()
    output = TailWriter(1000, 1, lambda descriptor, data: len(data))
    runner = tests_of_a_worker.TestRunner(loaded, output, {"program.py": source.split("\n")})
    for test in task.tests if tests is None else tests:
        yield parse_result(runner.run(to_worker(test), 0))


def first_failure(game: str, source: str) -> UnitTestResult:
    return next(result for result in results_of(game, source) if result.status != "pass")


@pytest.mark.parametrize("game", [TIGER, REACHING])
def test_a_right_program_passes_every_test(game: str) -> None:
    results = list(results_of(game, source_of(game)))
    assert [result.id for result in results if result.status != "pass"] == []
    assert {result.kind for result in results} == {"distribution", "joint_play", "step"}


@pytest.mark.slow
@pytest.mark.parametrize("game", [TIGER, REACHING])
def test_a_right_program_passes_every_test_and_the_contract_in_a_worker(game: str) -> None:
    task = task_of(game)
    settings = TesterSettings(workers=1)
    (report,) = ProcessTester(task.tests, task.info, None, settings, joint=task.joint)([source_of(game)])
    assert report.outcome is Outcome.OK
    assert report.passes, report.counts
    assert sorted(report.counts) == ["distribution", "joint_play", "step"]


WRONG: list[Any] = [
    (TIGER, [("0.85 if", "0.8 if"), ("else 0.15", "else 0.2")], "chance", "probability 0.15 of 'left', got 0.2"),
    (TIGER, [('"growl of agent %d"', '"growl %d"')], "chance", "nothing is recorded for this draw"),
    (TIGER, [("else 10.0", "else 12.0")], "rewards", "rewards[1]: expected 10.0, got 12.0"),
    (TIGER, [("else 10.0", "else 10**400")], "rewards", "rewards: expected a list of numbers, got [-1.0, 1000"),
    (TIGER, [("return [0, 1]", "return [1]")], "active", "expected 0, got 1"),
    (TIGER, [("    return list(ACTIONS)", "    return ACTIONS[:2]")], "legal_actions", "expected 3 items, got 2"),
    (TIGER, [('"growl": None', '"growl": ""')], "observations", "[0].growl: expected None"),
    (TIGER, [("[False, False]", "[False, True]")], "over", "over[1]: expected False, got True"),
    (TIGER, [("rewards = [-1.0", "rewards = [1 / 0")], "move", "move raised ZeroDivisionError"),
    (TIGER, [(', ("right", 0.5)])\n    return state', "])\n    return state")], "chance", "they sum to 0.5"),
    (TIGER, [("    told = []", "    told, CREAKS[0] = [], CREAKS[0] + '!'")], "chance", "impossible outcomes"),
    (REACHING, [("return after, ", "state[0] = 0\n    return after, ")], "mutated_input", "move changed its input"),
    (REACHING, [('STARTS), choose("start of agent 1", STARTS)', 'STARTS), [1, 1]')], "chance", "did not make it"),
]  # fmt: skip


@pytest.mark.parametrize(("game", "replacements", "field", "message"), WRONG)
def test_a_mistake_is_told_by_the_field_where_it_shows(
    game: str, replacements: list[tuple[str, str]], field: str, message: str
) -> None:
    failed = first_failure(game, source_of(game, *replacements))
    assert failed.field == field
    assert message in failed.message


@pytest.mark.parametrize("hidden", ["_tables", "drawn", "probability", "open", "fault"])
def test_a_program_finds_nothing_that_was_recorded_at_choose(hidden: str) -> None:
    begin = f"BEGIN = initial_state\n\n\ndef initial_state(choose):\n    choose.{hidden}\n    return BEGIN(choose)\n"
    tests = [next(test for test in task_of(TIGER).tests if test.kind == kind) for kind in ("step", "distribution")]
    for result in results_of(TIGER, f"{source_of(TIGER)}\n\n{begin}", tests):
        assert "AttributeError: 'function' object has no attribute" in result.message


def test_a_step_that_hangs_on_earlier_calls_is_not_repeatable() -> None:
    counting = ("    after = []", "    SEEN.append(1)\n    after = []"), ("worth or 0.0", "(worth or 0.0) + len(SEEN)")
    source = "SEEN = []\n" + source_of(REACHING, *counting)
    assert any(
        result.fields.get("not_repeatable") == "fail" or result.field == "not_repeatable"
        for result in results_of(REACHING, source)
    )


def test_the_probability_of_what_was_recorded_is_compared_over_all_that_chance_can_do() -> None:
    """The draws of the program have other labels, so that only the sum over all ways can be compared."""
    test = next(test for test in task_of(TIGER).tests if test.kind == "distribution" and test.step == 0)
    assert (test.data["probability"], test.data["actions"]) == (1.0, None)
    test = next(test for test in task_of(TIGER).tests if test.kind == "distribution" and test.step == 1)
    # An open door: noise for one, and the tiger, which moved, is heard rightly by the other.
    assert test.data["actions"] == ["listen", "open right"]
    assert test.data["probability"] == round((0.85 + 0.15) / 2 * 0.9 * 1 / 6, 12)
    relabelled = source_of(TIGER, ('"creak of agent %d"', '"noise %d"'))
    assert [result.status for result in results_of(TIGER, relabelled, [test])] == ["pass"]
    louder = source_of(TIGER, ("0.9 if", "0.8 if"), ("else 0.05", "else 0.1"))
    (failed,) = results_of(TIGER, louder, [test])
    assert failed.message == "what was recorded here has the probability 0.075, and 0.06666666666666667 in the program"


LISTENED = "rewards = [-1.0"


def test_rewards_that_differ_by_rounding_alone_are_what_was_recorded() -> None:
    tests = [test for test in task_of(TIGER).tests if test.kind == "distribution" and test.step == 1]
    rounding = source_of(TIGER, (LISTENED, "rewards = [-1.0 + 1e-13"))
    assert [result.status for result in results_of(TIGER, rounding, tests)] == ["pass"]
    farther = source_of(TIGER, (LISTENED, "rewards = [-1.0 + 1e-8"))
    (failed,) = results_of(TIGER, farther, tests)
    assert "cannot happen in the program" in failed.message
    # What differs by rounding alone is shown as one outcome, with the sum of its probabilities.
    chance = 'choose("dust", [(0.0, 0.5), (1e-13, 0.5)])'
    split = source_of(TIGER, (LISTENED, f"dust = {chance}\n    rewards = [-1.0 + dust"), ("else 10.0", "else 11.0"))
    (failed,) = results_of(TIGER, split, tests)
    whole = source_of(TIGER, ("else 10.0", "else 11.0"))
    (expected,) = results_of(TIGER, whole, tests)
    assert shown_chances(failed) == shown_chances(expected)


def shown_chances(result: UnitTestResult) -> list[float]:
    got: Any = result.got
    return [round(probability, 12) for probability, _ in got["likeliest"]]


@pytest.mark.parametrize("reward", ["10 ** 400", "-10 ** 400", "None"])
def test_a_reward_that_is_no_float_is_a_wrong_one(reward: str) -> None:
    tests = [test for test in task_of(TIGER).tests if test.step == 1 and test.kind != "joint_play"]
    results = list(results_of(TIGER, source_of(TIGER, (f"{LISTENED} if", f"rewards = [{reward} if")), tests))
    assert [(result.kind, result.status, result.field) for result in results] == [
        ("step", "fail", "rewards"),
        ("distribution", "fail", "distribution"),
    ]


def test_the_likelihood_gap_is_counted_where_anything_is_drawn(summarise: Any) -> None:
    tests = [test for test in task_of(TIGER).tests if test.kind == "distribution"][:8]
    source = source_of(TIGER, ("0.9 if", "0.8 if"), ("else 0.05", "else 0.1"), ("else 10.0", "else 12.0"))
    found = summarise(tests, list(results_of(TIGER, source, tests)), [], "strong").likelihood_gap
    # Who opens a door is paid otherwise: impossible. Of the others each listener hears the other rightly or not.
    opened = sum(any(action != "listen" for action in test.data["actions"] or ()) for test in tests)
    assert (found.steps + found.impossible, found.failed) == (8, 0)
    assert 0 < found.impossible <= opened
    right = LikelihoodGap(steps=2, nats=log(0.9 / 0.8) + log(0.05 / 0.1), impossible=1)
    assert right.in_words() == "-0.2877 nats a step over 2; 1 impossible, 0 failed"
    correct = summarise(tests, list(results_of(TIGER, source_of(TIGER), tests)), [], "strong").likelihood_gap
    assert correct == LikelihoodGap(steps=8)


def gap_of(wanted: Any, got: Any, status: Any = "fail", expected: Any = None) -> LikelihoodGap:
    test = UnitTest("distribution-0-0", "distribution", {"probability": wanted}, 0, 0)
    told = {"probability": got}
    result = UnitTestResult(test.id, test.kind, status, "distribution", expected, told, message="", output_tail="")
    return LikelihoodGap().plus(test, result)


def test_the_likelihood_gap_believes_no_answer_beyond_the_programs_own_probability() -> None:
    assert gap_of(0.5, 0.25, expected={"probability": -1.0}) == LikelihoodGap(steps=1, nats=log(0.5) - log(0.25))
    smallest = gap_of(0.5, 5e-324)
    assert smallest == LikelihoodGap(steps=1, nats=log(0.5) - log(5e-324))
    assert 743 < smallest.nats < 744
    assert gap_of(0.5, 0.0) == LikelihoodGap(impossible=1)
    assert gap_of(0.5, 1.0 + 1e-12).steps == 1
    for no_probability in (-0.5, 1.5, float("inf"), float("nan"), "0.5", None, True, [0.5]):
        assert gap_of(0.5, no_probability) == LikelihoodGap(failed=1), no_probability


def test_steps_whose_true_probability_nobody_knows_are_counted_apart() -> None:
    """A true probability that was rounded to 0 is not known, either."""
    for wanted in (None, 0.0):
        assert gap_of(wanted, None, "pass") == gap_of(wanted, 0.25) == LikelihoodGap(unknown=1)
        assert gap_of(wanted, 0.0) == LikelihoodGap(impossible=1)
    assert (
        LikelihoodGap(unknown=2).in_words() == "– nats a step over 0; 0 impossible, 0 failed, 2 of unknown probability"
    )
    # What was stored before anything was unknown stays as it was, byte for byte.
    assert list(LikelihoodGap(steps=8).to_json()) == ["steps", "nats", "impossible", "failed"]
    assert LikelihoodGap(**LikelihoodGap(unknown=2).to_json()) == LikelihoodGap(unknown=2)


def test_no_way_of_chance_is_gone_through_where_it_may_do_very_much_known_rules_or_not() -> None:
    (many,), (few,) = (
        inputs.registered("foraging", 1, 0, joint=True).train,
        inputs.registered(TIGER, 1, 0, joint=True).train,
    )
    for rules in (None, make("foraging")):
        assert list(recorded_tests("distribution", many, rules)) == []
    known, unknown = (list(recorded_tests("distribution", few, rules)) for rules in (make(TIGER), None))
    assert [test.id for test in known] == [test.id for test in unknown]
    assert {test.data["probability"] for test in unknown} == {None}


def test_no_test_holds_a_state_and_the_prompt_shows_how_it_comes_to_one() -> None:
    test = next(test for test in task_of(TIGER).tests if test.kind == "step" and test.step == 2)
    text = render([test])
    assert "state" not in test.data
    assert text.splitlines()[2] == "        state = started({'tiger': 'left'})"
    assert text.splitlines()[3].startswith("        state = moved(state, ['listen', 'open right'], {'tiger': 'right', ")
    assert "self.assertDrawn({" in text


HASHED: Callable[[str], str] = lambda source: source.replace(  # noqa: E731
    'return [{"own": first, "other": second}', 'return [{"own": first, "other": list({"a", "b", "c", "d"})}'
)


def test_answers_that_depend_on_the_process_break_the_contract() -> None:
    task = task_of(REACHING)
    program = ProgramSource(HASHED(source_of(REACHING)), None, described(task.info, task.joint))
    found = verify(program, Sandbox(), ContractOptions(games=2))
    assert [violation.rule for violation in found] == ["answers differ in another process"]


def program_of_the_true_rules(game: str) -> ProgramGame:
    """Returns the true rules of a game as a program would offer them: states and observations are JSON."""
    model: Any = make(game)
    task = task_of(game)

    def state_of(state: Any) -> Any:
        return model.state_from_json(state) if isinstance(model, DescribesPosg) else state

    def move(state: Any, actions: list[str], choose: Any) -> Any:
        after, rewards, over = model.move(state_of(state), tuple(actions), choose)
        return state_to_json(model, after), list(map(float, rewards)), list(map(bool, over))

    def observe(state: Any, actions: list[str] | None, choose: Any) -> Any:
        told = model.observe(state_of(state), None if actions is None else tuple(actions), choose)
        return [observation_to_json(model, agent, one) for agent, one in enumerate(told)]

    functions = {
        "initial_state": lambda choose: state_to_json(model, model.initial_state(choose)),
        "active": lambda state: list(model.active(state_of(state))),
        "legal_actions": lambda state, agent: list(model.legal_actions(state_of(state), agent)),
        "move": move,
        "observe": observe,
    }
    return ProgramGame(functions, "null", task.info)


QUICK = ("button-game", "cat-dog", "driving", "mabc", "rps-repeated", "two-paths")


@pytest.mark.parametrize(
    "game", [pytest.param(game, marks=() if game in QUICK else pytest.mark.slow) for game in ids()]
)
def test_the_true_rules_pass_the_tests_of_every_game(game: str) -> None:
    output = TailWriter(1000, 1, lambda descriptor, data: len(data))
    runner = tests_of_a_worker.TestRunner(program_of_the_true_rules(game), output, {})
    tests = [test for test in task_of(game).tests if test.step % 7 < 2]
    results = [parse_result(runner.run(to_worker(test), 0)) for test in tests]
    assert [(result.id, result.message) for result in results if result.status != "pass"] == []
