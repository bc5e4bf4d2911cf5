"""Further rounds: what a passing program fails elsewhere is added, the tree is kept, and prompts tell of it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from cwm.llm.api import BudgetExceededError, ReplayMissError
from cwm.llm.providers.scripted import Answer, Scripted
from cwm.record.record import RunRecord
from cwm.sandbox.inside.program import ProgramGame
from cwm.sandbox.wire.api import Outcome
from cwm.storage.keys import program_hash
from cwm.suite.build import BuildOptions, build
from cwm.suite.types import UnitTest, UnitTestResult
from cwm.synthesis.candidate import Candidate, KindCounts, SuiteReport
from cwm.synthesis.config import SynthesisConfig
from cwm.synthesis.driver import synthesize
from cwm.synthesis.further import SHOWN_TESTS, Found, Further, Round, describe, with_added
from cwm.synthesis.result import SynthesisResult
from cwm.synthesis.task import SynthesisTask
from cwm.synthesis.testing import ProcessTester, TesterSettings
from cwm.trajectories.recorded import collect

UNSEEN = ("(2, 4, 6)", "(2, 4, 6), (0, 5, 7), (1, 3, 8), (2, 3, 7)")
"""Broken diagonals count as lines too."""


@pytest.fixture(scope="module")
def game(program_game: Callable[[str], ProgramGame]) -> ProgramGame:
    return program_game("three_in_a_row")


@pytest.fixture(scope="module")
def right(program_text: Callable[[str], str]) -> str:
    return program_text("three_in_a_row")


@pytest.fixture(scope="module")
def rare(right: str) -> str:
    assert UNSEEN[0] in right
    return right.replace(*UNSEEN)


@pytest.fixture(scope="module")
def elsewhere(game: ProgramGame) -> tuple[UnitTest, ...]:
    """Returns tests of a game in which the first player has a broken diagonal."""
    games = [replace(played, index=played.index + 100) for played in collect(game, 60, 5)]
    tests = build(games, BuildOptions(kinds=("transition",)))
    return tuple(
        test
        for test in tests
        if test.data["player"] >= 0 and all(test.data["state"]["board"][cell] == "x" for cell in (0, 5, 7))
    )[:3]


@pytest.fixture(scope="module")
def task(game: ProgramGame, rare: str) -> SynthesisTask:
    """Returns a task whose tests the rare mistake passes."""
    task = SynthesisTask.of("Three in a row.", game.info, game.initial_state(), collect(game, 8, 0), "none")
    (report,) = process_tester(task)([rare])
    failed = {result.id for result in report.results if result.status != "pass"}
    return replace(task, tests=tuple(test for test in task.tests if test.id not in failed))


def process_tester(task: SynthesisTask) -> ProcessTester:
    return ProcessTester(task.tests, task.info, task.initial_state, TesterSettings(workers=1))


def fenced(*sources: str) -> str:
    return "\n".join(f"```python\n{source}```" for source in sources)


class Searches:
    """Finds given tests in the first rounds, and remembers who was tried."""

    def __init__(self, *found: Sequence[UnitTest]) -> None:
        self._found = found
        self.tried: list[tuple[str, int]] = []

    def __call__(self, candidate: Candidate, number: int) -> Found:
        self.tried.append((candidate.hash, number))
        tests = tuple(self._found[number - 1]) if number <= len(self._found) else ()
        return Found(tests, {"somebody": 1}, {"transition": 9}, {"transition": len(tests)} if tests else {})


def run(
    task: SynthesisTask,
    answers: Sequence[Answer],
    search: Searches,
    rounds: int = 3,
    record: RunRecord | None = None,
    start: str | None = None,
    **settings: object,
) -> tuple[SynthesisResult, Scripted]:
    model = Scripted(answers)
    config = SynthesisConfig.from_json(settings)
    further = Further(rounds, search, process_tester)
    return synthesize(task, config, model, process_tester(task), record, further=further, start=start), model


@pytest.mark.parametrize("method", ["tree_search", "conversation"])
def test_failing_tests_are_added_shown_and_mended(
    task: SynthesisTask, rare: str, right: str, elsewhere: tuple[UnitTest, ...], method: str
) -> None:
    search = Searches(elsewhere)
    result, model = run(task, [fenced(rare), fenced(right)], search, method=method)
    assert (result.reason, result.calls, len(result.rounds)) == ("all_tests_pass", 2, 2)
    assert search.tried == [(program_hash(rare), 1), (program_hash(right), 2)]
    assert result.rounds[0].added == tuple(test.id for test in elsewhere)
    assert result.best is not None
    assert result.best.report.counts["transition"].total == result.candidates[0].report.counts["transition"].total
    assert any(test.id.replace("-", "_") in model.requests[1].messages[-1].text for test in elsewhere)


def test_program_that_finds_nothing_ends_the_synthesis_at_once(task: SynthesisTask, right: str) -> None:
    search = Searches()
    result, model = run(task, [fenced(right)], search)
    assert (result.calls, len(model.requests), len(search.tried)) == (1, 1, 1)
    assert result.to_json()["rounds"][0]["added"] == []


def test_no_program_is_tried_before_it_passes(task: SynthesisTask, right: str) -> None:
    search = Searches()
    run(task, [fenced(right.replace("return [1.0, -1.0] if", "return [2.0, -2.0] if")), fenced(right)], search)
    assert search.tried == [(program_hash(right), 1)]


def test_first_step_of_a_round_refines_the_program_that_passed(
    task: SynthesisTask, rare: str, right: str, elsewhere: tuple[UnitTest, ...]
) -> None:
    first = rare.replace("return [1.0, -1.0] if", "return [2.0, -2.0] if")
    for seed in range(4):
        result, _ = run(task, [fenced(first), fenced(rare), fenced(right)], Searches(elsewhere), seed=seed)
        assert [candidate.parent for candidate in result.candidates] == [None, 0, 1]


def test_best_program_is_kept_where_no_answer_mends_it(
    task: SynthesisTask, rare: str, elsewhere: tuple[UnitTest, ...]
) -> None:
    answers = [fenced(rare), fenced(rare + "# again\n"), BudgetExceededError("no more")]
    result, _ = run(task, answers, Searches(elsewhere))
    assert (result.reason, result.message) == ("budget", "no more")
    assert result.best is not None
    assert (result.best.source, result.best.status) == (rare, "tested")
    assert 0.0 < result.best.heuristic < 1.0


def test_recording_that_ends_there_keeps_the_program_and_one_that_misses_before_is_an_error(
    task: SynthesisTask, rare: str, elsewhere: tuple[UnitTest, ...]
) -> None:
    miss = ReplayMissError("not recorded")
    result, _ = run(task, [fenced(rare), miss], Searches(elsewhere))
    assert (result.reason, result.best is not None and result.best.source) == ("unanswered", rare)
    with pytest.raises(ReplayMissError):
        run(task, [miss], Searches(elsewhere))


def test_resumed_run_tests_nothing_again(
    task: SynthesisTask, rare: str, right: str, elsewhere: tuple[UnitTest, ...], tmp_path: Path
) -> None:
    with RunRecord.create_or_resume(tmp_path / "run", "synthesis", {}) as record:
        whole, _ = run(task, [fenced(rare), fenced(right)], Searches(elsewhere), record=record)
        reports = [len(record.test_reports(program_hash(source))) for source in (rare, right)]
        again, _ = run(task, [fenced(rare), fenced(right)], Searches(elsewhere), record=record)
    assert reports == [2, 1]
    assert again.to_json() == whole.to_json()
    assert [candidate.report for candidate in again.candidates] == [candidate.report for candidate in whole.candidates]


@pytest.mark.parametrize("method", ["tree_search", "conversation"])
def test_synthesis_may_start_from_a_program(
    task: SynthesisTask, rare: str, right: str, elsewhere: tuple[UnitTest, ...], method: str
) -> None:
    harder = replace(task, tests=(*task.tests, *elsewhere))
    result, model = run(harder, [fenced(right)], Searches(), rounds=0, start=rare, method=method)
    assert (result.calls, result.reason, result.best is not None and result.best.source) == (1, "all_tests_pass", right)
    assert [candidate.parent for candidate in result.candidates] == [None, 0]
    assert "(1, 3, 8)" in model.requests[0].messages[0].text
    done, silent = run(harder, [], Searches(), rounds=0, start=right, method=method)
    assert (done.calls, done.reason, silent.requests) == (0, "all_tests_pass", [])


def result_of(test: UnitTest, status: str) -> UnitTestResult:
    return UnitTestResult(test.id, test.kind, status, "" if status == "pass" else "rewards", None, None, "", "")  # type: ignore[arg-type]


def test_report_over_added_tests_counts_both_and_nothing_else(elsewhere: tuple[UnitTest, ...]) -> None:
    old = SuiteReport(Outcome.OK, (), {"transition": KindCounts(passed=4), "random_play": KindCounts(passed=2)})
    contract = UnitTestResult("contract-0", "contract", "fail", "x", None, None, "", "")
    results = tuple(result_of(test, status) for test, status in zip(elsewhere, ("fail", "pass"), strict=False))
    merged = with_added(old, elsewhere, SuiteReport(Outcome.OK, (), {}, (*results, contract)))
    assert merged.counts == {
        "transition": KindCounts(passed=5, failed=1, not_run=len(elsewhere) - 2),
        "random_play": KindCounts(passed=2),
    }
    assert merged.results == results


def test_round_is_told_in_one_sentence(elsewhere: tuple[UnitTest, ...]) -> None:
    assert describe({"a": 2, "b": 1}, {"transition": 30}, {}, ()) == "3 games (2 of a, 1 of b), 30 tests, all passed"
    names = tuple(f"t-{number}" for number in range(SHOWN_TESTS + 2))
    told = describe({"a": 2}, {"transition": 30}, {"transition": 9, "inference": 1}, names)
    assert told.startswith("2 games (2 of a), 30 tests, 10 failed (inference 1, transition 9), added: t-0, ")
    assert told.endswith("and 2 more")
    found = Found(elsewhere, {"a": 1}, {"transition": 3}, {"transition": 3})
    assert Found.from_json(found.to_json()) == found
    candidate = Candidate(0, "", "h", None, 0, 1, SuiteReport(Outcome.OK, (), {}))
    assert Round.of(1, candidate, 2, found).to_json()["calls"] == 2
