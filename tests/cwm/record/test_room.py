"""No answer is asked for without room for it on the disk."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from cwm.llm.api import Message, Request
from cwm.llm.journaled import Journaled
from cwm.llm.providers.scripted import Scripted
from cwm.record import room
from cwm.record.record import RunRecord
from cwm.storage.journal import RunStorageError

QUESTION = Request((Message("user", "a question"),), "model", max_output_tokens=1000)


def open_run(folder: Path) -> RunRecord:
    return RunRecord.create_or_resume(folder, "synthesis", {})


def test_room_is_held_while_a_call_is_under_way_and_given_back_with_its_answer(tmp_path: Path) -> None:
    held: list[int] = []

    class Looking(Scripted):
        def complete(self, request: Request) -> Any:
            held.extend(path.stat().st_size for path in tmp_path.glob("*.room"))
            return super().complete(request)

    with open_run(tmp_path) as record:
        assert Journaled(Looking(["an answer"]), record.calls).complete(QUESTION).text == "an answer"
    assert held == [1000 * room.PER_TOKEN + room.BESIDE]
    assert list(tmp_path.glob("*.room")) == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EFBIG])
def test_without_room_nothing_is_asked_and_the_call_is_made_once_there_is_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def full(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    model = Scripted(["an answer"])
    with open_run(tmp_path) as record, monkeypatch.context() as disk:
        disk.setattr(os, "posix_fallocate", full)
        with pytest.raises(RunStorageError, match=r"the disk is full: .* up to 1,000 tokens \(1\.0 MiB\), so nothing"):
            Journaled(model, record.calls).complete(QUESTION)
        assert list(record.calls.calls()) == []
    assert list(tmp_path.glob("*.room")) == []
    with open_run(tmp_path) as record:
        assert Journaled(model, record.calls).complete(QUESTION).text == "an answer"


def test_another_fault_of_the_disk_is_named_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(RunStorageError, match="No such file or directory"):
        room.reserve(tmp_path / "missing" / "a.room", 10)


def test_a_record_in_memory_holds_no_room() -> None:
    with RunRecord.memory() as record:
        assert Journaled(Scripted(["an answer"]), record.calls).complete(QUESTION).text == "an answer"
