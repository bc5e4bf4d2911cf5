"""Failures that look alike are shown together: the largest group first, of each its smallest example."""

from hypothesis import given
from hypothesis import strategies as st

from cwm.sandbox.wire.api import Outcome
from cwm.suite.failure_groups import examples, grouped, listing
from cwm.suite.types import UnitTest, UnitTestResult
from cwm.synthesis.candidate import SuiteReport, count_results
from cwm.synthesis.config import SynthesisConfig
from cwm.synthesis.prompts import FAILED_CHARACTERS, TaskPrompts
from cwm.synthesis.task import SynthesisTask
from cwm.trajectories.recorded import collect


def case(number: int, length: int = 1) -> UnitTest:
    return UnitTest(f"transition-0-{number}", "transition", {"state": "s" * length}, 0, number)


def wrong(test: UnitTest, field: str, path: str = "") -> UnitTestResult:
    return UnitTestResult(test.id, test.kind, "fail", field, 1, 2, f"{field}{path}: expected 1, got 2", "", path=path)


def raised(test: UnitTest, field: str, line: int | None, path: str = "") -> UnitTestResult:
    return UnitTestResult(test.id, test.kind, "error", field, None, None, "KeyError: 'x'", "", path=path, line=line)


def test_one_mistake_at_many_places_of_a_field_is_one_group() -> None:
    tests = [case(number, length=9 - number) for number in range(5)]
    results = [wrong(test, "next_state", f".hands[{test.step}][0]") for test in tests[:3]]
    results += [wrong(tests[3], "next_state", ".deck"), wrong(tests[4], "observations", "[1].hands[0]")]
    groups = grouped(tests, results)
    assert [(group.field, group.key, len(group.tests)) for group in groups] == [
        ("next_state", "hands", 3),
        ("next_state", "deck", 1),
        ("observations", "hands", 1),
    ]
    assert [test.step for test in groups[0].tests] == [2, 1, 0]


def test_errors_are_grouped_by_the_line_that_raised_and_apart_from_wrong_answers() -> None:
    tests = [case(number) for number in range(4)]
    results = [
        raised(tests[0], "rewards", 7),
        raised(tests[1], "rewards", 7, "[0]"),
        raised(tests[2], "rewards", None),
        wrong(tests[3], "rewards", "[1]"),
    ]
    assert sorted(listing(grouped(tests, results))) == [
        "1 test: transition: rewards differs",
        "1 test: transition: rewards failed with an error",
        "2 tests: transition: rewards failed with an error in line 7",
    ]


def test_groups_beyond_ten_are_counted() -> None:
    tests = [case(number) for number in range(13)]
    lines = listing(grouped(tests, [wrong(test, f"field {test.step:02}") for test in tests]))
    assert lines[0] == "1 test: transition: field 00 differs"
    assert lines[10:] == ["3 tests in 3 further groups"]


def test_further_examples_are_taken_from_the_groups_in_turn() -> None:
    tests = [case(number, length=number + 1) for number in range(9)]
    fields = "aaaaabbbc"
    groups = grouped(tests, [wrong(test, fields[test.step]) for test in tests])
    assert [test.step for test in examples(groups, 6)] == [0, 5, 8, 1, 6, 2]
    assert [test.step for test in examples(groups, 2)] == [0, 5]
    assert len(examples(groups, 100)) == 9


@given(st.lists(st.sampled_from("abcd"), max_size=30), st.integers(0, 30))
def test_no_group_is_passed_over_for_a_second_example_of_another(fields: list[str], limit: int) -> None:
    tests = [case(number) for number in range(len(fields))]
    groups = grouped(tests, [wrong(test, fields[test.step]) for test in tests])
    shown = examples(groups, limit)
    assert len(shown) == min(limit, len(tests)) == len({test.id for test in shown})
    distinct = {fields[test.step] for test in shown}
    assert len(distinct) == min(len(shown), len(set(fields)))
    sizes = [len(group.tests) for group in groups]
    assert sizes == sorted(sizes, reverse=True)


def test_a_refinement_prompt_lists_the_groups_and_keeps_to_its_room(program_game) -> None:  # type: ignore[no-untyped-def]
    game = program_game("three_in_a_row")
    task = SynthesisTask.of("Three in a row.", game.info, game.initial_state(), collect(game, 2, 0), "none")
    results = tuple(
        UnitTestResult(test.id, test.kind, "fail", "next_state", "x", "y" * 20_000, "wrong", "", path=".board[0]")
        for test in task.tests
    )
    counts = count_results([test.kind for test in task.tests], results)
    writer = TaskPrompts(task, SynthesisConfig(num_tests_on_error=20))
    verdict = writer._verdict(SuiteReport(Outcome.OK, (), counts, results))
    transitions = sum(test.kind == "transition" for test in task.tests)
    assert verdict["groups"] == [
        f'{transitions} tests: transition: next_state differs at "board"',
        '2 tests: random play: next_state differs at "board"',
    ]
    assert 40_000 < len(verdict["tests"]) < FAILED_CHARACTERS + 200
    assert "more tests" in verdict["tests"].splitlines()[-1]
