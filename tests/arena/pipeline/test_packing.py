"""Recordings carry the settings of their run, by which they are replayed, and ship compressed."""

import json
import lzma
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.pipeline import packing
from arena.runs import replayed
from arena.runs.replayed import header_settings, recorded_settings, settings_of
from arena.runs.settings import RunSettings
from arena.runs.standard import by_way, standard_settings
from arena.usage import UsageError
from cwm.functions.prior import PriorConfig
from cwm.llm import recordings
from cwm.llm.providers.scripted import Scripted
from cwm.llm.recorder import Recorder
from cwm.llm.recordings import Header, Recording, RecordingError
from cwm.sandbox.parent import levels


def recording_of(settings: RunSettings | None) -> Recording:
    told = None if settings is None else header_settings(settings)
    return Recording("some", Header("mnk", "seed 3", told), recordings.load("tic_tac_toe").records)


LIVE = standard_settings("mnk", "openai:some", "http://127.0.0.1:9", 3)


def test_a_header_tells_what_requests_depend_on_and_neither_model_nor_machine() -> None:
    told = header_settings(replace(LIVE, temperature=0.5))
    assert not {"llm", "base_url", "level", "matches", "test_transitions"} & told.keys()
    assert (told["seed"], told["temperature"], told["rules_detail"]) == (3, 0.5, "book")
    assert json.loads(Header("mnk", "", told).line())["recording"]["settings"] == json.loads(json.dumps(told))


def test_a_replay_has_the_settings_of_the_recorded_run() -> None:
    for asked in (LIVE, by_way(LIVE, "conversation"), replace(LIVE, told=False, prior=PriorConfig(seed=3))):
        found = settings_of(recording_of(asked))
        assert found is not None
        assert header_settings(found) == header_settings(asked)
        assert (found.llm, found.base_url, found.matches) == ("recorded", None, None)
        assert found.level == levels.default()


def test_an_old_recording_tells_nothing_and_one_of_something_else_is_refused() -> None:
    assert settings_of(recording_of(None)) is None
    with pytest.raises(RecordingError, match="the recording some tells settings that are none of a run"):
        settings_of(replace(recording_of(None), header=Header("mnk", "", {"synthesis": 3})))


def test_a_recording_that_is_named_is_replayed_as_it_was_made_and_with_a_seed_as_that_says(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl.xz"
    file.write_bytes(recording_of(by_way(LIVE, "conversation")).packed())
    wished = RunSettings("mnk", True, llm=f"replay:{file}")
    found = recorded_settings(wished, None)
    assert found is not None
    assert (found.seed, found.synthesis.method, found.synthesis.seed) == (3, "conversation", 3)
    other = recorded_settings(wished, 5)
    assert other is not None
    assert (other.seed, other.synthesis.seed, other.synthesis.method) == (5, 5, "conversation")
    assert recorded_settings(replace(wished, game="tic_tac_toe"), None) is None
    assert recorded_settings(replace(wished, llm="openai:some"), None) is None


FURTHER = ("bare", "rex", "vectors", "faster", "twin", "functions")
"""In names of recordings that are replayed by name alone: what else was asked, or from how little."""


@pytest.mark.parametrize("name", recordings.bundled_names())
def test_a_recording_that_ships_tells_the_settings_by_which_its_name_is_found(name: str) -> None:
    settings = settings_of(recordings.load(name))
    assert settings is not None
    usual = replayed.name_for(settings).replace(":", "-")
    if settings.wording.name not in ("", "hurried"):
        # Players of one game, each from a prompt of its own, are told apart by their seeds.
        usual = recordings.name_of(settings.game, settings.seed)
    if any(f"+{word}" in name for word in FURTHER):
        assert name.startswith(settings.game)
    else:
        assert usual == name


def test_the_same_lines_are_packed_into_the_same_bytes_and_read_again(tmp_path: Path) -> None:
    recording = recording_of(LIVE)
    file = tmp_path / "some.jsonl.xz"
    file.write_bytes(recording.packed())
    assert recordings.load(str(file)) == recording
    assert recordings.load(str(file)).packed() == recording.packed()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"plain", "cannot be read"),
        (lzma.compress(b"{}\n")[:-5], "cut short or too large"),
        (lzma.compress(b"{}\n"), "no record of version"),
    ],
)
def test_a_packed_recording_that_is_none_is_refused_in_a_sentence(data: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "some.jsonl.xz"
    file.write_bytes(data)
    with pytest.raises(RecordingError, match=message):
        recordings.load(str(file))


def test_a_run_is_packed_under_its_name_and_an_old_recording_with_the_settings_of_its_run(
    cwm: Any, refused: Any, tmp_path: Path
) -> None:
    run, record, into = tmp_path / "run", tmp_path / "own.jsonl", tmp_path / "packed"
    quick = ("--test-transitions", 20, "--values", 0, "--priors", 0, "--further-games", 0, "--workers", 1)
    cwm("synthesize", "tic_tac_toe", *quick, "--run", run, "--record", record)
    cwm("llm", "pack", run, record, "--into", into)
    of_run, of_file = (recordings.load(str(into / f"{name}.jsonl.xz")) for name in ("tic_tac_toe", "own"))
    assert of_run.records == of_file.records == recordings.load(str(record)).records
    # While answers come in, nothing is chosen yet.
    assert replace(of_run.header, chosen=None) == of_file.header == recordings.load(str(record)).header
    assert of_run.header.chosen == {"functions": {}, "schema": None, "about": {}}

    old = tmp_path / "old.jsonl"
    old.write_text(
        "\n".join([Header("tic_tac_toe", "seed 0").line(), *(one.line() for one in of_run.records)]), encoding="utf-8"
    )
    assert "which tells nothing of the run" in refused("llm", "pack", old, "--into", into).err
    cwm("llm", "pack", old, "--run", run, "--into", into)
    assert recordings.load(str(into / "old.jsonl.xz")).header == of_run.header
    again = cwm(
        "synthesize", "tic_tac_toe", "--llm", f"replay:{into / 'old.jsonl.xz'}", *quick, "--run", tmp_path / "2"
    )
    assert again.code == 0


def test_an_answer_is_not_added_to_a_packed_file_nor_an_old_recording_packed_without_its_run(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"name a \.jsonl file; `cwm llm pack` compresses it"):
        Recorder(Scripted(["a"]), tmp_path / "a.jsonl.xz")
    file = tmp_path / "old.jsonl.xz"
    file.write_bytes(recording_of(None).packed())
    with pytest.raises(UsageError, match="is an old one"):
        packing.of_file(str(file), None)
