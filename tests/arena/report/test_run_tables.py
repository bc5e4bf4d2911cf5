"""The tables of a run: what is written, and what a killed run still holds."""

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.matches.match import GameRecord
from arena.matches.ratings import standings
from arena.report.data import ArenaView, ReportData
from arena.report.run_tables import tables
from cwm.record.record import RunRecord
from games.api import GameInfo

NAMES = ["accuracy", "similarity", "standings", "tree", "usage"]


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    return folder


def read(run: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((run / "tables" / f"{name}.json").read_text(encoding="utf-8"))
    return found


def test_a_finished_run_holds_every_table_as_json_and_csv(run: Path) -> None:
    assert sorted(path.name for path in (run / "tables").iterdir()) == [
        f"{name}.{suffix}" for name in NAMES for suffix in ("csv", "json")
    ]
    for name in NAMES:
        with (run / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        rows = read(run, name)
        assert [list(line) for line in lines] == [list(row) for row in rows]
    transitions = [row for row in read(run, "accuracy") if row["kind"] == "transition"]
    assert {row["split"] for row in transitions} >= {"train", "test"}
    assert all(row["accuracy"] == row["accuracy_of_answers"] == 1.0 for row in transitions)
    (candidate,) = read(run, "tree")
    assert (candidate["id"], candidate["parent"], candidate["chosen"], candidate["heuristic"]) == (0, None, True, 1.0)
    assert [row["calls"] for row in read(run, "usage")] == [1]


def test_every_recorded_program_is_compared_with_our_source(run: Path, cwm: Any) -> None:
    with RunRecord.open(run) as record:
        other = record.add_program(
            "def current_player(self, state):\n    return TERMINAL\n", metadata={"why": "not chosen"}
        )
        hashes = [program.hash for program in record.programs()]
    ran = cwm("report", run)
    assert ran.code == 0
    rows = {row["sha256"]: row for row in read(run, "similarity")}
    assert list(rows) == hashes
    assert len(rows) == 2
    assert (rows[other]["chosen"], rows[other]["program_tokens"]) == (False, 10)
    assert 5 <= rows[other]["shared_run"] <= 10
    assert rows[other]["shared_with"]
    assert "longest run shared with our source" in ran.out
    assert other[:12] in (run / "report.html").read_text(encoding="utf-8")


def test_tables_of_a_killed_run_come_from_its_journal(run: Path, cwm: Any) -> None:
    before = {name: read(run, name) for name in ("tree", "usage", "similarity")}
    (run / "result.json").unlink()
    shutil.rmtree(run / "model")
    shutil.rmtree(run / "tables")
    ran = cwm("report", run)
    assert ran.code == 0
    assert "not finished" in ran.out
    assert read(run, "usage") == before["usage"]
    # Nothing is chosen before the end; all else is as it was.
    assert read(run, "tree") == [row | {"chosen": False} for row in before["tree"]]
    assert read(run, "similarity") == [row | {"chosen": False} for row in before["similarity"]]
    assert "Candidate 0" in (run / "report.html").read_text(encoding="utf-8")


def test_standings_have_a_row_an_agent_of_each_lineup_with_intervals(record: Callable[..., GameRecord]) -> None:
    info = GameInfo("toy", 2, "zero_sum", -10.0, 10.0, False, True, ("x", "y"))
    games = [record("a b", [4.0, -4.0], 1), record("b a", [1.0, -1.0], 1), record("a b", [1.0, -1.0], 2)]
    view = ArenaView("Poker", standings(games, info, ["a", "b"]))
    rows = tables(ReportData("toy", "toy", "now", "process", arenas=(view,)))["standings"]
    assert [(row["lineup"], row["agent"], row["games"], row["deals"]) for row in rows] == [
        ("a + b", "a", 3, 2),
        ("a + b", "b", 3, 2),
    ]
    assert rows[0]["payoff"] == pytest.approx(1.25)
    assert rows[0]["payoff_low"] < 1.25 < rows[0]["payoff_high"]
    assert rows[0]["score"] is None
