"""Accuracy: what is counted where."""

import pytest

from cwm.sandbox.wire.api import Outcome
from cwm.suite.build import BuildOptions, build
from cwm.suite.evaluation import FINAL_SCORES, ResultCounts
from cwm.suite.types import UnitTestResult
from cwm.trajectories.recorded import collect

KINDS = BuildOptions(kinds=("transition",))


@pytest.fixture(scope="module")
def games(program_game):
    return collect(program_game("three_in_a_row"), 8, seed=4)


def passed(test, **changes):
    values = {"status": "pass", "field": "", "expected": None, "got": None, "message": "", "output_tail": ""}
    fields = {"rewards": "pass", "next_state": "pass"}
    return UnitTestResult(test.id, test.kind, **(values | {"fields": fields} | changes))


def test_timeouts_and_errors_are_apart_from_wrong_answers(games, summarise):
    tests = build(games, KINDS)[:5]
    results = [
        passed(tests[0]),
        passed(tests[1], status="fail", field="rewards", fields={"rewards": "fail", "next_state": "pass"}),
        passed(tests[2], status="error", field="wall_timeout", fields={}, outcome=Outcome.WALL_TIMEOUT),
        passed(tests[3], status="error", field="rewards", fields={"rewards": "error"}, outcome=Outcome.MODEL_ERROR),
        passed(tests[4], status="error", field="infra_error", fields={}, outcome=Outcome.INFRA_ERROR),
    ]
    report = summarise(tests, results, games, "process")
    tally = report.kinds["transition"]
    assert tally == ResultCounts(passed=1, wrong=1, errors=1, timeouts=1, not_run=0, ours=1)
    assert tally.scored == 4
    assert tally.accuracy == 0.25
    assert tally.accuracy_of_answers == 0.5
    assert report.fields["rewards"] == ResultCounts(passed=1, wrong=1, errors=1, timeouts=1, ours=1)
    assert [result.id for result in report.failed] == [test.id for test in tests[1:]]


def test_final_scores_are_counted_apart(games, summarise):
    tests = build(games, KINDS)
    results = [passed(test) for test in tests]
    report = summarise(tests, results, games, "process")
    assert report.fields[FINAL_SCORES].passed == len(games)
    assert report.fields["rewards"].passed == len(tests)
    assert report.transitions == len(tests) - len(games)
    assert report.distinct_states < len(tests)
    assert report.accuracy("transition") == 1.0


def test_there_is_no_mean_of_nothing(summarise):
    assert ResultCounts().accuracy is None
    assert ResultCounts(errors=2).accuracy == 0.0
    assert ResultCounts(errors=2).accuracy_of_answers is None
    report = summarise([], [], [], "process")
    assert report.accuracy("transition") is None
    assert report.to_json()["kinds"] == {}


def test_a_report_is_json_and_says_its_level(games, summarise):
    tests = build(games, KINDS)
    data = summarise(tests, [passed(test) for test in tests], games, "process").to_json()
    assert data["level"] == "process"
    assert data["kinds"]["transition"]["accuracy"] == 1.0
    assert data["kinds"]["transition"]["accuracy_of_answers"] == 1.0
