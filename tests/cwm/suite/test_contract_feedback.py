"""A program that passes every test and still breaks a rule of every game: that counts, and the next prompt tells it."""

from dataclasses import replace
from pathlib import Path

import pytest

from cwm.suite.contract import OTHER_PROCESS
from cwm.suite.types import UnitTest
from cwm.synthesis.candidate import Candidate, SuiteReport
from cwm.synthesis.config import SynthesisConfig
from cwm.synthesis.prompts import TaskPrompts
from cwm.synthesis.task import SynthesisTask
from cwm.synthesis.testing import ProcessTester, TesterSettings
from games.api import GameInfo

SOURCE = (Path(__file__).parents[2] / "data" / "programs" / "tic_tac_toe.py").read_text(encoding="utf-8")
INFO = GameInfo("tic_tac_toe", 2, "win_loss_draw", -1.0, 1.0, True, False, ("x", "o"), 9)
INITIAL = {"board": [None] * 9, "mark": "x"}
TESTS = (UnitTest("random_play-0", "random_play", {"num_players": 2, "max_length": 100}, -1, 0),)
# No test that compares sets of actions sees this.
UNORDERED = """

ordered_actions = get_legal_actions


def get_legal_actions(state):
    return list(set(ordered_actions(state)))
"""


@pytest.fixture(scope="module")
def tester() -> ProcessTester:
    return ProcessTester(TESTS, INFO, INITIAL, TesterSettings(workers=1))


def test_a_program_that_breaks_no_rule_passes_without_a_test_of_the_contract(tester):
    (report,) = tester([SOURCE])
    assert report.passes
    assert set(report.counts) == {"random_play"}


def test_a_broken_rule_counts_as_a_failed_test_of_its_own_kind(tester):
    (report,) = tester([SOURCE + UNORDERED])
    assert not report.passes
    assert report.counts["random_play"].passed == 1
    assert report.counts["contract"].failed == 1
    assert report.results[-1].field == OTHER_PROCESS
    restored = SuiteReport.from_json(report.to_json())
    assert (restored.results, restored.counts) == (report.results, report.counts)


def test_the_refinement_prompt_tells_the_broken_rule_and_how_to_get_there(tester):
    (report,) = tester([SOURCE + UNORDERED])
    task = SynthesisTask("the rules", INFO, INITIAL, (), TESTS, "none")
    for config in (SynthesisConfig(), replace(SynthesisConfig(), prompt_tests="paper")):
        prompt = TaskPrompts(task, config).refinement(Candidate(0, SOURCE, "hash", None, 0, 1, report))
        assert f"# TODO: fix this wrong answer: {OTHER_PROCESS}: get_legal_actions answers" in prompt
        assert "for action in []:" in prompt
        assert "- contract: 0 of 1 tests passed; 1 gave a wrong answer" in prompt


@pytest.mark.parametrize(
    "guessed",
    [
        replace(INFO, min_utility=-0.5, max_utility=0.5, utility="zero_sum"),
        replace(INFO, utility="identical"),
    ],
)
def test_payoffs_read_off_recorded_games_are_not_held_against_a_program(guessed):
    judged = ProcessTester(TESTS, guessed, INITIAL, TesterSettings(workers=1))
    (report,) = judged([SOURCE])
    assert not report.passes
    (report,) = ProcessTester(TESTS, guessed, INITIAL, TesterSettings(workers=1, payoffs=False))([SOURCE])
    assert report.passes
    (report,) = ProcessTester(TESTS, guessed, INITIAL, TesterSettings(workers=1, payoffs=False))([SOURCE + UNORDERED])
    assert report.results[-1].field == OTHER_PROCESS
