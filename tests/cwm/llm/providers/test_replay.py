"""Recording and replay: the same run again, a miss that explains itself, and tampering that is seen."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cwm.llm import recordings
from cwm.llm.api import Completion, LanguageModelError, Message, ReplayMissError, Request, Usage
from cwm.llm.providers.replay import Replay, replay
from cwm.llm.providers.scripted import Scripted
from cwm.llm.recorder import Recorder
from cwm.llm.recordings import RecordingError

REQUEST = Request((Message("user", "rules\nof the\ngame"),), "transition", 100)


def answer(text: str, outcome: str = "ok") -> Completion:
    return Completion(text, outcome, "m-1", Usage(3, 4), 9.0, {"date": "2026-01-02"})  # type: ignore[arg-type]


def record(path: Path, *answers: Completion) -> list[Completion]:
    model = Recorder(Scripted(list(answers)), path, game="nim", note="a test")
    return [model.complete(REQUEST) for _ in answers]


def edit(path: Path, change: Callable[[str], str]) -> None:
    path.write_text(change(path.read_text()))


def test_a_replayed_run_is_the_recorded_one_occurrence_by_occurrence(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    recorded = record(path, answer("a"), answer("b\u2028\ud800é"), answer("a"))
    model = replay(str(path))
    assert model.name == "replay:run"
    assert [model.complete(REQUEST) for _ in range(3)] == [replace(done, latency_s=0.0) for done in recorded]


@pytest.mark.parametrize("outcome", ["truncated", "refused", "empty"])
def test_an_answer_that_was_not_good_is_replayed_as_it_was_and_never_as_good(tmp_path: Path, outcome: str) -> None:
    path = tmp_path / "run.jsonl"
    record(path, answer("half", outcome), answer("whole"))
    model = replay(str(path))
    assert [model.complete(REQUEST).outcome for _ in range(2)] == [outcome, "ok"]


def test_a_failed_call_is_not_recorded(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with pytest.raises(LanguageModelError):
        Recorder(Scripted([LanguageModelError("no")]), path).complete(REQUEST)
    assert recordings.load(str(path)).records == ()


def test_recording_again_adds_and_asks_only_for_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    record(path, answer("a"))
    before = path.read_text()
    script = Scripted([answer("b")])
    model = Recorder(script, path)
    assert [model.complete(REQUEST).text for _ in range(2)] == ["a", "b"]
    assert len(script.requests) == 1
    assert path.read_text().startswith(before)


def test_a_refusal_is_not_served_for_ever_when_recording_again(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    record(path, answer("no", "refused"))
    assert record(path, answer("yes"))[0].text == "yes"
    assert replay(str(path)).complete(REQUEST).text == "yes"


def test_a_record_that_a_kill_cut_short_is_taken_off_and_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    record(path, answer("a"), answer("b"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    assert [done.text for done in record(path, answer("c"), answer("d"))] == ["a", "c"]
    assert [record.completion.text for record in recordings.load(str(path)).records] == ["a", "c"]


def test_a_file_that_is_no_recording_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text("my notes, without an end")
    with pytest.raises(RecordingError, match=r"Line 1 of .*notes\.jsonl is no JSON"):
        Recorder(Scripted([]), path)
    assert path.read_text() == "my notes, without an end"


def test_a_request_asked_too_often_is_told_apart_from_an_unknown_one(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    record(path, answer("a"))
    model = replay(str(path))
    model.complete(REQUEST)
    with pytest.raises(ReplayMissError, match="holds this request 1 times and it was asked once more"):
        model.complete(REQUEST)


def test_a_miss_names_the_nearest_request_and_shows_the_first_line_that_differs(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    far = Request((Message("user", "something else"),), "value", 100)
    model = Recorder(Scripted([answer("a"), answer("b")]), path)
    model.complete(far)
    model.complete(REQUEST)
    asked = replace(REQUEST, messages=(Message("user", "rules\nof a\ngame"),))
    with pytest.raises(ReplayMissError) as caught:
        replay(str(path)).complete(asked)
    lines = str(caught.value).split("\n")
    assert "nearest is call 2 (transition" in lines[0]
    assert lines[0].endswith("and line 6 is the first that differs:")
    assert lines[1:3] == ["  asked:    of a", "  recorded: of the"]


def test_a_miss_by_a_parameter_names_the_parameter(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    record(path, answer("a"))
    with pytest.raises(ReplayMissError, match=r"asked:    temperature: 0.5\n  recorded: temperature: None"):
        replay(str(path)).complete(replace(REQUEST, temperature=0.5))


def test_a_long_line_is_shown_around_its_first_difference(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    long = Request((Message("user", "x" * 5000 + "a" + "y" * 5000),), "transition", 100)
    Recorder(Scripted([answer("a")]), path).complete(long)
    with pytest.raises(ReplayMissError) as caught:
        replay(str(path)).complete(replace(long, messages=(Message("user", "x" * 5000 + "b" + "y" * 5000),)))
    shown = str(caught.value).split("\n")[1]
    assert "xxbyy" in shown
    assert len(shown) < 200


def test_a_text_that_ends_before_is_said_to_end(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    record(path, answer("a"))
    with pytest.raises(ReplayMissError, match=r"recorded: .nothing: the text ends before"):
        replay(str(path)).complete(replace(REQUEST, messages=(Message("user", "rules\nof the\ngame\nmore"),)))


def test_an_empty_recording_says_so(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    Recorder(Scripted([]), path)
    with pytest.raises(ReplayMissError, match="is empty"):
        replay(str(path)).complete(REQUEST)


def test_a_changed_answer_is_detected(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    record(path, answer("move left"))
    edit(path, lambda text: text.replace("move left", "move right"))
    with pytest.raises(RecordingError, match=r"Line 2 of .* was changed after it was recorded"):
        recordings.load(str(path))


def test_a_deleted_record_is_detected_where_a_later_one_is_left(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    record(path, answer("a"), answer("b"))
    edit(path, lambda text: "".join(text.splitlines(keepends=True)[::2]))
    with pytest.raises(RecordingError, match="lacks occurrence 0"):
        recordings.load(str(path))


def test_a_record_that_is_there_twice_is_detected(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    record(path, answer("a"))
    edit(path, lambda text: text + text.splitlines(keepends=True)[1])
    with pytest.raises(RecordingError, match=r"Line 3 of .* repeats a call"):
        recordings.load(str(path))


@pytest.mark.parametrize("line", ["{", "[]", '"x"', '{"version": 2}', "null"])
def test_a_corrupted_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "run.jsonl"
    record(path, answer("a"))
    edit(path, lambda text: text + line + "\n")
    with pytest.raises(RecordingError, match="Line 3 of"):
        recordings.load(str(path))


def test_a_record_is_one_readable_line(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    record(path, answer("é"))
    header, line = path.read_text().rstrip("\n").split("\n")
    assert json.loads(header)["recording"] == {"game": "nim", "note": "a test"}
    data = json.loads(line)
    assert sorted(data) == [
        "checksum",
        "completion",
        "date",
        "key",
        "model",
        "occurrence",
        "purpose",
        "request",
        "version",
    ]
    assert (data["model"], data["date"], data["occurrence"], data["version"]) == ("m-1", "2026-01-02", 0, 1)
    assert "é" in line


def test_a_summary_names_game_model_date_calls_and_tokens(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    record(path, answer("a"), answer("half", "truncated"))
    assert recordings.load(str(path)).summary() == {
        "name": "run",
        "game": "nim",
        "note": "a test",
        "models": ["m-1"],
        "first_date": "2026-01-02",
        "last_date": "2026-01-02",
        "calls": 2,
        "outcomes": {"ok": 1, "truncated": 1},
        "purposes": {"transition": 2},
        "input_tokens": 6,
        "output_tokens": 8,
        "tokens_estimated": False,
    }


def test_an_unknown_recording_lists_the_known_ones() -> None:
    with pytest.raises(RecordingError, match=r"no recording 'chess' \(nearest of \d+ that ship: \w"):
        recordings.load("chess")


@pytest.mark.parametrize("name", recordings.bundled_names())
def test_every_bundled_recording_is_whole_and_names_game_model_and_date(name: str) -> None:
    summary = recordings.load(name).summary()
    assert summary["game"]
    assert summary["models"]
    assert "unnamed" not in summary["models"]
    assert summary["first_date"]
    assert summary["calls"] > 0


def test_a_numbered_request_gets_the_occurrence_that_it_names(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    record(path, answer("a"), answer("b"))
    model = Replay(recordings.load(str(path)))
    assert model.complete(replace(REQUEST, occurrence=1)).text == "b"
    assert model.complete(replace(REQUEST, occurrence=0)).text == "a"
