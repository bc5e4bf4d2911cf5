"""Whatever is changed in a recording by hand is found out, or changes nothing that is replayed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwm.llm.api import Completion, Message, Request, Usage
from cwm.llm.providers.scripted import Scripted
from cwm.llm.recorder import Recorder
from cwm.llm.recordings import Recording, RecordingError, parse


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Returns a recording of two questions, one asked twice, with one refusal."""
    path = tmp_path_factory.mktemp("recording") / "run.jsonl"
    answers = [
        Completion("move é", "ok", "m-1", Usage(1, 2), 0.5, {"finish_reason": "stop"}),
        Completion("", "refused", "m-1", Usage(3, 0)),
        Completion("move right", "ok", "m-1", Usage(5, 6)),
    ]
    model = Recorder(Scripted(answers), path, game="nim", note="seed 0", now=lambda: "2026-01-31")
    for question in ("a", "b", "a"):
        model.complete(Request((Message("user", question),), "transition", 100))
    return path.read_text(encoding="utf-8")


def loaded(text: str) -> Recording | None:
    try:
        return parse("run", text, "run.jsonl")
    except RecordingError:
        return None


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(place=st.integers(0, 10**6), put=st.characters(codec="utf-8"))
def test_changing_one_character_is_found_out_or_changes_nothing(text: str, place: int, put: str) -> None:
    place %= len(text)
    assert loaded(text[:place] + put + text[place + 1 :]) in (None, loaded(text))


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(place=st.integers(0, 10**6), length=st.integers(1, 40))
def test_deleting_characters_is_found_out_or_changes_nothing(text: str, place: int, length: int) -> None:
    place %= len(text)
    assert loaded(text[:place] + text[place + length :]) in (None, loaded(text))


def test_answers_that_change_places_are_found_out(text: str) -> None:
    lines = text.splitlines(keepends=True)
    changed = lines[1].replace("move é", "move right"), lines[3].replace("move right", "move é")
    assert loaded(lines[0] + changed[0] + lines[2] + changed[1]) is None
