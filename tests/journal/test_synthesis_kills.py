"""The promises of the journal for synthesis runs, their evaluations and matches: real processes, real SIGKILLs."""

import json
import os
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from arena.evaluation.verified_run import verify_run
from arena.matches.verification import verify_games
from cwm.record.record import RunRecord
from cwm.storage import lock
from cwm.storage.journal import RunRecordError

PROGRAMS = Path(__file__).resolve().parents[1] / "data" / "programs"
RIGHT = (PROGRAMS / "registered_tic_tac_toe.py").read_text(encoding="utf-8")
ANSWERS = ["import os", "import sys", RIGHT]
STATEMENTS = 130
"""At least as many as a whole run has."""


def synthesis(folder: Path, **changes: Any) -> dict[str, Any]:
    return {"kind": "synthesis", "folder": folder, "programs": ANSWERS} | changes


def asked(folder: Path) -> Counter[str]:
    """Returns how often each call reached the provider, in all processes."""
    log = folder.with_suffix(".calls")
    return Counter(log.read_text().splitlines()) if log.exists() else Counter()


def result(folder: Path) -> dict[str, Any]:
    """Returns what a run came to, without what a kill may change: attempts that were lost are on the bill."""
    found: dict[str, Any] = json.loads((folder / "result.json").read_text())
    del found["tally"]
    return timeless(found)


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: timeless(item) for key, item in value.items() if "seconds" not in key}
    return [timeless(item) for item in value] if isinstance(value, list | tuple) else value


def check(folder: Path, whole: Path) -> None:
    assert result(folder) == result(whole)
    found, expected = verify_games(folder / "matches"), verify_games(whole / "matches")
    assert found.problems == ()
    assert timeless(found.result.table.to_json()) == timeless(expected.result.table.to_json())
    with RunRecord.read(folder) as record:
        assert verify_run(record) == []
        assert [call.status for call in record.calls.calls()] == ["answered"] * 3


@pytest.fixture(scope="session")
def whole(runner: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of a run that nobody disturbed."""
    folder: Path = tmp_path_factory.mktemp("whole") / "run"
    ended = runner.run(**synthesis(folder))
    assert ended.code == 0, ended.err
    assert sorted(asked(folder).values()) == [1, 1, 1]
    assert ended.statements <= STATEMENTS
    return folder


def kill_and_resume(runner: Any, folder: Path, whole: Path, at: int, how: str) -> bool:
    """Kills a run at a statement, resumes it and compares; returns whether the kill came before its end."""
    ended = runner.run(**synthesis(folder, fault=[at, how]))
    killed = bool(ended.code == -signal.SIGKILL)
    open_calls = calls_under_way(folder) if killed else 0
    ended = runner.run(**synthesis(folder))
    assert ended.code == 0, ended.err
    # A call that had been sent and not stored may be asked once more; no answer in the journal is.
    assert sorted(asked(folder).values()) in ([1, 1, 1], [1, 1, 1 + open_calls])
    check(folder, whole)
    return killed


def calls_under_way(folder: Path) -> int:
    try:
        with RunRecord.read(folder) as record:
            return sum(call.status == "sent" for call in record.calls.calls())
    except RunRecordError:  # killed before the tables were made
        return 0


@pytest.mark.parametrize(
    "places",
    [
        ((14, "after"), (15, "before"), (70, "after")),
        pytest.param(((3, "before"), (22, "after"), (45, "before")), marks=pytest.mark.slow),
    ],
)
def test_killed_run_goes_on_to_the_same_result_and_repeats_no_call(
    runner: Any, whole: Path, tmp_path: Path, places: tuple[tuple[int, str], ...]
) -> None:
    for at, how in places:
        assert kill_and_resume(runner, tmp_path / f"{at}" / "run", whole, at, how)


@pytest.mark.slow
def test_run_killed_at_each_third_statement_goes_on_to_the_same_result(
    runner: Any, whole: Path, tmp_path: Path
) -> None:
    places = [(at, how) for at in range(1, STATEMENTS, 3) for how in ("before", "after")]
    killed = sum(kill_and_resume(runner, tmp_path / f"{at}-{how}" / "run", whole, at, how) for at, how in places)
    assert killed >= 50


def test_finished_run_again_makes_no_call_and_plays_no_game(runner: Any, whole: Path) -> None:
    calls, before = asked(whole), (whole / "result.json").read_bytes()
    games = verify_games(whole / "matches").records
    again = runner.run(**synthesis(whole))
    assert again.code == 0, again.err
    assert asked(whole) == calls
    assert (whole / "result.json").read_bytes() == before
    assert verify_games(whole / "matches").records == games


def test_run_that_was_killed_is_refused_other_settings_with_the_difference(
    runner: Any, whole: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    assert runner.run(**synthesis(folder, fault=[30, "after"])).code == -signal.SIGKILL
    ended = runner.run(**synthesis(folder, seed=7))
    assert ended.code == 2
    assert "config.synthesis.seed: 0 in the record, 7 now" in ended.err
    assert runner.run(**synthesis(folder)).code == 0
    check(folder, whole)


def test_second_process_on_a_stopped_run_is_told_who_holds_it(runner: Any, whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    pid = runner.start(**synthesis(folder))
    while not asked(folder):
        time.sleep(0.005)
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(Exception, match=f"is locked: process {pid} works on it"):
        RunRecord.open(folder)
    assert lock.holder(folder) == str(pid)
    with RunRecord.read(folder) as record:
        assert list(record.calls.calls()) != []
    os.kill(pid, signal.SIGKILL)
    assert runner.wait().code == -signal.SIGKILL
    assert lock.holder(folder) is None
    assert runner.run(**synthesis(folder)).code == 0
    check(folder, whole)


@pytest.mark.parametrize("at", [15, *(pytest.param(at, marks=pytest.mark.slow) for at in (2, 12, 30, 60))])
def test_full_disk_stops_a_run_with_a_named_error_and_loses_nothing(
    runner: Any, whole: Path, tmp_path: Path, at: int
) -> None:
    folder = tmp_path / "run"
    ended = runner.run(**synthesis(folder, fault=[at, "full"]))
    assert ended.code == 4, ended.err
    assert "disk is full" in ended.err
    assert "Traceback" not in ended.err
    assert runner.run(**synthesis(folder)).code == 0
    check(folder, whole)
