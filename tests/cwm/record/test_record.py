"""The run record: one folder, one writer, one configuration, named errors."""

import json
import os
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cwm.llm.api import Completion, Message, Request, Usage
from cwm.llm.journaled import StoredCall
from cwm.llm.requests import request_key
from cwm.record import record
from cwm.record.record import RunConfigError, RunMissingError, RunRecord
from cwm.storage import journal
from cwm.storage.differences import differences
from cwm.storage.journal import Journal, RunCorruptError, RunLockedError, RunStorageError
from cwm.storage.keys import content_key

ROOT = Path(__file__).resolve().parents[3]
CONFIG = {"game": "toy", "synthesis": {"num_retries": 500}}
REQUEST = Request((Message("user", "hello"),), "transition", occurrence=0)
ANSWER = Completion("hi", "ok", "m", Usage(3, 2), 0.5, {"finish_reason": "stop"})


def new(folder: Path, **changes: object) -> RunRecord:
    return RunRecord.create_or_resume(folder, "synthesis", {**CONFIG, **changes}, seeds={"search": 1})


def call() -> StoredCall:
    return StoredCall(request_key(REQUEST, "m"), 0, "m", REQUEST)


def test_stored_answer_is_served_after_the_record_is_opened_again(tmp_path: Path) -> None:
    with new(tmp_path) as run:
        assert run.calls.begin(call()) is None
        run.calls.finish(call().key, 0, ANSWER, 0)
    with new(tmp_path) as run:
        assert run.calls.begin(call()) == ANSWER
        (stored,) = run.calls.calls()
        assert (stored.status, stored.completion, stored.request) == ("answered", ANSWER, REQUEST)


def test_failed_call_is_sent_again_and_keeps_its_lost_attempts(tmp_path: Path) -> None:
    with new(tmp_path) as run:
        run.calls.begin(call())
        run.calls.fail(call().key, 0, "no answer", 2)
        assert run.calls.begin(call()) is None
        (stored,) = run.calls.calls()
        assert (stored.status, stored.message, stored.lost) == ("sent", "", 2)


def test_call_that_was_under_way_at_a_kill_counts_as_lost(tmp_path: Path) -> None:
    with new(tmp_path) as run:
        run.calls.begin(replace(call(), lost=1))
        assert [stored.lost for stored in run.calls.calls()] == [0]
        run.calls.begin(replace(call(), lost=1))
        run.calls.finish(call().key, 0, ANSWER, 2)
        assert [stored.lost for stored in run.calls.calls()] == [3]


def test_calls_come_back_in_the_order_in_which_they_began(tmp_path: Path) -> None:
    with new(tmp_path) as run:
        for text in ("z", "a", "m"):
            request = Request((Message("user", text),), "value", occurrence=0)
            run.calls.begin(StoredCall(request_key(request, "m"), 0, "m", request))
        assert [stored.request.messages[0].text for stored in run.calls.calls()] == ["z", "a", "m"]


def test_another_configuration_is_refused_with_each_difference(tmp_path: Path) -> None:
    new(tmp_path).close()
    with pytest.raises(RunConfigError, match=r"config\.synthesis\.num_retries: 500 in the record, 20 now") as error:
        new(tmp_path, synthesis={"num_retries": 20, "method": "conversation"})
    assert 'config.synthesis.method: not in the record, "conversation" now' in str(error.value)


def test_another_seed_is_refused(tmp_path: Path) -> None:
    new(tmp_path).close()
    with pytest.raises(RunConfigError, match=r"seeds\.search: 1 in the record, 2 now"):
        RunRecord.create_or_resume(tmp_path, "synthesis", CONFIG, seeds={"search": 2})


def test_second_record_on_one_folder_says_that_it_is_locked(tmp_path: Path) -> None:
    with new(tmp_path), pytest.raises(RunLockedError, match="open already in this process"):
        new(tmp_path)
    new(tmp_path).close()


def test_second_process_on_one_folder_is_told_who_holds_it(tmp_path: Path) -> None:
    code = f"from pathlib import Path; from cwm.record.record import RunRecord; RunRecord.open(Path({str(tmp_path)!r}))"
    with new(tmp_path):
        run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert f"RunLockedError: {tmp_path} is locked: process {os.getpid()} works on it" in run.stderr


def test_reader_sees_a_run_while_it_is_written(tmp_path: Path) -> None:
    with new(tmp_path) as run:
        run.put_game("k", {"returns": [1, -1]})
        with RunRecord.read(tmp_path) as reader:
            assert reader.game("k") == {"returns": [1, -1]}
            with pytest.raises(RunStorageError, match="readonly"):
                reader.put_game("other", {})


def test_game_with_the_same_key_is_stored_once(tmp_path: Path) -> None:
    with new(tmp_path) as run:
        assert run.put_game("b", 1)
        assert not run.put_game("b", 2)
        assert run.put_game("a", 3)
        assert run.games() == [("a", 3), ("b", 1)]


def test_event_that_is_told_again_replaces_the_first_telling(tmp_path: Path) -> None:
    with new(tmp_path) as run:
        run.add_event("synthesis", 0, "prompt", {"call": 0})
        run.add_event("synthesis", 0, "prompt", {"call": 9})
        assert list(run.events("synthesis")) == [("synthesis", 0, "prompt", {"call": 9})]


def test_program_is_a_file_named_by_its_hash(tmp_path: Path) -> None:
    with new(tmp_path) as run:
        digest = run.add_program("x = 'é'\r\n", parent="p", metadata={"call": 3})
        assert (tmp_path / "programs" / f"{digest}.py").read_bytes() == "x = 'é'\r\n".encode()
        assert run.program_source(digest) == "x = 'é'\r\n"
        assert run.programs() == [record.StoredProgram(digest, f"programs/{digest}.py", "model", "p", {"call": 3})]


def test_changed_program_file_is_detected(tmp_path: Path) -> None:
    with new(tmp_path) as run:
        digest = run.add_program("x = 1\n")
        (tmp_path / "programs" / f"{digest}.py").write_text("x = 2\n")
        with pytest.raises(RunCorruptError, match="its hash is not its name"):
            run.program_source(digest)


def test_first_test_report_of_a_program_stays(tmp_path: Path) -> None:
    with new(tmp_path) as run:
        run.put_test_report("p", "s", {"passed": 1})
        run.put_test_report("p", "s", {"passed": 2})
        assert run.test_report("p", "s") == {"passed": 1}
        assert run.test_report("p", "other") is None


def test_folder_without_a_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunMissingError, match=r"run\.json is missing"):
        RunRecord.open(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"format_version": "x"}',
        '{"format_version": 1}',
        '{"format_version": 99, "kind": "k", "config": {}}',
    ],
)
def test_damaged_run_file_is_a_named_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(RunCorruptError, match=r"run\.json"):
        RunRecord.open(tmp_path)


def test_unknown_keys_of_a_run_file_are_tolerated(tmp_path: Path) -> None:
    with new(tmp_path) as run:
        known = run.info
        run.calls.begin(call())
        run.calls.finish(call().key, 0, ANSWER, 0)
    path = tmp_path / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"later": 1}))
    for opened in (new, RunRecord.open):
        with opened(tmp_path) as again:
            assert again.info == known
            assert [stored.completion for stored in again.calls.calls()] == [ANSWER]
            assert json.loads(path.read_text())["later"] == 1


@pytest.mark.parametrize("damage", ["text", "middle"])
def test_damaged_journal_is_a_named_error_and_frees_the_lock(tmp_path: Path, damage: str) -> None:
    with new(tmp_path) as run:
        for number in range(300):
            run.put_game(f"{number:03}" * 50, {"n": number})
    path = tmp_path / "journal.sqlite"
    content = bytearray(path.read_bytes())
    content[:] = b"not a database" * 100 if damage == "text" else content[:4096] + b"\x7f" * (len(content) - 4096)
    path.write_bytes(content)
    for _ in range(2):
        with pytest.raises(RunCorruptError, match=r"journal\.sqlite is damaged"):
            RunRecord.open(tmp_path)


def test_journal_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    new(tmp_path).close()
    connection = sqlite3.connect(tmp_path / "journal.sqlite")
    connection.execute("PRAGMA user_version=99")
    connection.close()
    with pytest.raises(RunCorruptError, match="journal version 99"):
        RunRecord.open(tmp_path)


def test_full_disk_is_a_named_error_and_loses_nothing(tmp_path: Path) -> None:
    run = Journal(tmp_path / "journal.sqlite")
    run.put("games", "first", 1)
    pages = run.read("PRAGMA page_count")[0][0]
    run.read(f"PRAGMA max_page_count={pages}")
    with pytest.raises(RunStorageError, match="full; free space"):
        run.put("games", "second", "x" * 100_000)
    run.close()
    again = Journal(tmp_path / "journal.sqlite")
    assert again.items("games") == [("first", 1)]
    again.close()


def test_file_in_place_of_the_folder_is_a_named_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunStorageError, match="cannot use"):
        new(tmp_path / "file")


def test_run_file_tells_versions_seeds_and_level(tmp_path: Path) -> None:
    with RunRecord.create_or_resume(tmp_path, "synthesis", CONFIG, seeds={"a": 3}, sandbox_level="process") as run:
        info = run.info
    assert (info.kind, info.config, info.seeds, info.sandbox_level) == ("synthesis", CONFIG, {"a": 3}, "process")
    assert info.versions["python"].startswith("3.")
    assert info.format_version == record.FORMAT_VERSION


def test_record_in_memory_serves_what_it_was_given_and_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with RunRecord.memory() as run:
        digest = run.add_program("x = 1\n", metadata={"step": 0})
        run.put_test_report(digest, "suite", {"passed": 1})
        run.put_evaluation("figures", {"right": 2})
        run.add_event("synthesis", 0, "began", {})
        assert (run.program_source(digest), run.programs()[0].metadata) == ("x = 1\n", {"step": 0})
        assert (run.test_report(digest, "suite"), run.evaluation("figures")) == ({"passed": 1}, {"right": 2})
        assert [kind for _, _, kind, _ in run.events()] == ["began"]
        assert run.info.sandbox_level is None
        assert RunRecord.memory().programs() == []
    assert list(tmp_path.iterdir()) == []


def test_differences_name_the_path_of_each_changed_setting() -> None:
    assert differences({"a": {"b": 1, "c": [1]}, "d": 0}, {"a": {"b": 2, "c": [1]}, "d": 0}) == [
        "a.b: 1 in the record, 2 now"
    ]


def test_differences_descend_into_lists_of_one_length_and_tell_others_whole() -> None:
    assert differences({"a": [{"b": 1}, 2]}, {"a": [{"b": 3}, 2]}) == ["a[0].b: 1 in the record, 3 now"]
    assert differences([1], [1, 2]) == ["value: [1] in the record, [1,2] now"]


def test_differences_list_keys_that_only_one_side_has() -> None:
    assert differences({"a": 1}, {"b": None}) == ["a: 1 in the record, not there now", "b: not in the record, null now"]


def test_content_key_does_not_depend_on_the_order_of_keys() -> None:
    assert content_key({"a": 1, "b": 2}) == content_key({"b": 2, "a": 1})


def test_journal_has_only_two_keyed_tables(tmp_path: Path) -> None:
    run = journal.Journal(tmp_path / "journal.sqlite")
    with pytest.raises(ValueError, match="evaluations and games"):
        run.put("completions", "k", 1)
    run.close()
