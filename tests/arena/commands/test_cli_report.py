"""`cwm report` beside a process at work, what it keeps, and how a run that a cap stopped says so."""

import json
from pathlib import Path
from typing import Any

import pytest

from arena.matches.store import GameStore, read
from arena.pipeline.matches import FOLDER
from arena.report import run_report
from arena.runs import inputs
from arena.runs.folder import open_record
from arena.runs.settings import MatchSettings, RunSettings
from cwm.llm.caps import Caps
from cwm.quality import similarity
from cwm.record.record import RunRecord
from cwm.storage import lock

VALUE = "def value_function(state, player_id):\n    return 0.0\n"


@pytest.fixture(scope="module")
def played(right_model: str, tmp_path_factory: pytest.TempPathFactory) -> RunSettings:
    return RunSettings(
        game="tic_tac_toe",
        registered=True,
        llm=right_model,
        test_transitions=0,
        planner_games=0,
        matches=MatchSettings(deals=1, simulations=5, rollouts=1),
    )


def test_a_run_is_reported_while_its_matches_are_played(cwm: Any, played: RunSettings, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    open_record(folder, played, inputs.registered("tic_tac_toe", 5, 0), Caps()).close()
    assert cwm("resume", folder, "--workers", 1).code == 0
    config = read(folder / FOLDER).config
    with RunRecord.open(folder), GameStore(folder / FOLDER, config) as store:
        games = len(store.games())
        ran = cwm("report", folder)
    assert ran.code == 0, ran.err
    assert games == 6
    assert "Matches" in ran.out


def test_the_process_at_work_is_named(cwm: Any, finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "holder", lambda folder: "4711")
    ran = cwm("report", finished)
    assert ran.code == 0
    assert f"process 4711 is at work on {finished}: this is what it has finished so far" in ran.err


def test_matches_that_were_killed_before_their_first_game_are_none(
    cwm: Any, played: RunSettings, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    open_record(folder, played, inputs.registered("tic_tac_toe", 5, 0), Caps()).close()
    assert cwm("resume", folder, "--workers", 1).code == 0
    for file in (folder / FOLDER).glob("games.sqlite*"):
        file.write_bytes(b"")
    ran = cwm("report", folder)
    assert ran.code == 0, ran.err
    assert "Matches" not in ran.out


def test_programs_are_compared_with_our_source_once(cwm: Any, finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []
    real = similarity.longest_shared_runs

    def counting(programs: list[str], files: Any) -> Any:
        compared.append(len(programs))
        return real(programs, files)

    monkeypatch.setattr(run_report, "longest_shared_runs", counting)
    kept = finished / run_report.SIMILARITY_FILE
    kept.unlink(missing_ok=True)
    first = cwm("report", finished)
    again = cwm("report", finished)
    assert compared == [1]
    assert again.out == first.out
    kept.write_text("{")
    assert cwm("report", finished).out == first.out
    assert compared == [1, 1]
    kept.write_text(json.dumps(json.loads(kept.read_text()) | {"source": "another"}))
    assert cwm("report", finished).out == first.out
    assert compared == [1, 1, 1]


def test_a_cap_that_leaves_fewer_value_functions_is_named_and_a_higher_one_goes_on(
    cwm: Any, right_program: str, tmp_path: Path
) -> None:
    answers, folder = tmp_path / "answers.jsonl", tmp_path / "run"
    programs = [right_program, VALUE, VALUE.replace("0.0", "0.5 * 0.0")]
    answers.write_text("".join(json.dumps(f"```python\n{program}\n```") + "\n" for program in programs))
    words = ["synthesize", "tic_tac_toe", "--llm", f"scripted:{answers}", "--test-transitions", 0, "--workers", 1]
    words += ["--further-games", 0, "--tournament-deals", 1]
    ran = cwm(*words, "--values", 2, "--max-calls", 2, "--run", folder, "--json")
    assert ran.code == 3
    assert "a cap is reached (" in ran.err
    assert "calls" in ran.json["message"]
    assert ran.json["synthesis"]["reason"] == "all_tests_pass"
    assert len(ran.json["values"]["candidates"]) == 1
    assert "Fewer value functions were written than were asked for" in cwm("report", folder).out
    last = cwm("resume", folder, "--workers", 1, "--max-calls", 3, "--json")
    assert last.code == 0, last.err
    assert last.json["message"] == "every training test passes"
    assert len(last.json["values"]["candidates"]) == 2
    assert "Fewer value functions" not in cwm("report", folder).out
