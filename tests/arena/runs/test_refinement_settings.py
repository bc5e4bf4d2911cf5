"""Refinement that learns is asked of new runs told by the book; older runs and recordings keep to their words."""

import hashlib
from pathlib import Path

import pytest

from arena.runs import inputs
from arena.runs.folder import DEFAULT_CALLS, capped, read_caps, write_caps
from arena.runs.hidden_information import HiddenInformation
from arena.runs.settings import RunSettings
from arena.runs.standard import standard_settings
from arena.runs.task import make_task
from cwm.llm.caps import Caps
from cwm.sandbox.wire.api import Outcome
from cwm.suite.types import UnitTestResult
from cwm.synthesis.candidate import Candidate, SuiteReport, count_results
from cwm.synthesis.config import LEARNING, SynthesisConfig
from cwm.synthesis.prompts import TaskPrompts
from cwm.synthesis.task import kinds


@pytest.mark.parametrize(
    ("game", "hidden", "prompt"),
    [
        ("tic_tac_toe", HiddenInformation(), "6eed1da65a25"),
        ("leduc_poker", HiddenInformation(), "926a808ecad0"),
        ("leduc_poker", HiddenInformation(deck="closed"), "2051560f384c"),
    ],
)
def test_a_refinement_without_earlier_ones_is_asked_for_in_the_words_of_old_runs(
    game: str, hidden: HiddenInformation, prompt: str
) -> None:
    task = make_task(inputs.registered(game, 2, 0), hidden)
    results = tuple(
        UnitTestResult(test.id, test.kind, "fail", "next_state", 1, 2, "no", "", path=".a") for test in task.tests
    )
    report = SuiteReport(Outcome.OK, (), count_results(kinds(task.tests), results), results)
    text = TaskPrompts(task, SynthesisConfig()).refinement(Candidate(0, "x=1\n", "h", None, 0, 1, report))
    assert hashlib.sha256(text.encode()).hexdigest()[:12] == prompt


def test_what_the_book_tells_is_refined_by_the_learning_policy_and_recordings_are_not() -> None:
    live, recorded = standard_settings("mnk", "openai:m", None, 0), standard_settings("mnk", None, None, 0)
    assert (live.synthesis.refinement, recorded.synthesis.refinement) == (LEARNING, "rex")
    assert (live.synthesis.prompt_tests, recorded.synthesis.prompt_tests) == ("telling", "per_action")
    assert RunSettings.from_record(live.to_json()) == live
    assert "refinement" not in recorded.to_json()["synthesis"]


@pytest.mark.parametrize(
    ("stored", "given", "expected"),
    [(None, None, None), (None, 7, 7), (80, None, 80), (3, None, DEFAULT_CALLS), (3, 0, 0)],
)
def test_a_run_begun_without_a_cap_on_calls_keeps_none_and_a_higher_one_stays(
    tmp_path: Path, stored: int | None, given: int | None, expected: int | None
) -> None:
    write_caps(tmp_path, Caps(calls=stored))
    assert capped(tmp_path, Caps(calls=given)).calls == expected


def test_a_new_run_has_the_default_cap_for_each_of_its_syntheses(tmp_path: Path) -> None:
    assert capped(tmp_path / "new", Caps(tokens=5)) == Caps(calls=DEFAULT_CALLS, tokens=5)
    assert capped(tmp_path / "new", Caps(), syntheses=3).calls == 3 * DEFAULT_CALLS
    write_caps(tmp_path, capped(tmp_path, Caps()))
    assert read_caps(tmp_path).calls == DEFAULT_CALLS
