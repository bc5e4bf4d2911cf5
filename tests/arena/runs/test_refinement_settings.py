"""Refinement that learns is asked of new runs; older ones keep to theirs."""

from pathlib import Path

import pytest

from arena.runs.folder import DEFAULT_CALLS, capped, read_caps, write_caps
from arena.runs.settings import RunSettings
from arena.runs.standard import standard_settings
from cwm.llm.caps import Caps
from cwm.synthesis.config import LEARNING


def test_what_is_new_is_refined_by_the_learning_policy_and_old_runs_keep_to_theirs() -> None:
    live = standard_settings("mnk", "openai:m", None, 0)
    assert (live.synthesis.refinement, live.synthesis.prompt_tests) == (LEARNING, "telling")
    assert RunSettings.from_record(live.to_json()) == live
    stored = live.to_json()
    del stored["synthesis"]["refinement"]
    assert RunSettings.from_record(stored).synthesis.refinement == "rex"


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
