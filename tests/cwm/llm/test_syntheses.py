"""Recorded completions of independent Yōkai syntheses: models that are exact at the first call, and policy priors."""

from pathlib import Path

import pytest

from cwm.answers import programs
from cwm.llm import recordings
from cwm.program_api import INFERENCE_FUNCTION, POLICY_FUNCTION, TRANSITION_FUNCTIONS
from cwm.sandbox import static_check

FILES = sorted((Path(__file__).parents[2] / "data" / "syntheses").glob("*.jsonl"))
MODEL = (*TRANSITION_FUNCTIONS, INFERENCE_FUNCTION)


def test_there_are_independent_syntheses_of_four_configurations() -> None:
    assert {path.stem.rpartition("-s")[0] for path in FILES} == {
        "yokai-9c-2p",
        "yokai-9c-3p",
        "yokai-9c-4p",
        "yokai-16c-2p",
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_answer_is_as_it_was_written_and_holds_a_program(path: Path) -> None:
    recording = recordings.load(str(path))
    assert path.stem.startswith(recording.header.game)
    assert recording.records
    for record in recording.records:
        functions = (POLICY_FUNCTION,) if record.request.purpose == "prior" else MODEL
        (source,) = programs(record.completion.text, functions, 1)
        assert static_check.check(source, functions) == []
