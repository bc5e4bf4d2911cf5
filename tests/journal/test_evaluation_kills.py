"""The promises of the journal for evaluations: real processes, killed with SIGKILL at chosen statements."""

import os
import signal
import sqlite3
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from cwm.model.bundle import ModelBundle, describe
from cwm.record.record import JOURNAL_FILE, RunRecord
from games import registry
from games.api import state_to_json

SOURCE = Path(__file__).resolve().parents[1] / "data" / "programs" / "registered_tic_tac_toe.py"
MOST_STATEMENTS = 36
BATCHES = 7


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of an exact model."""
    game = registry.make("tic_tac_toe")
    initial = state_to_json(game, game.initial_state())
    folder = tmp_path_factory.mktemp("model")
    ModelBundle(SOURCE.read_text(encoding="utf-8"), None, initial, describe(game.info), "").save(folder)
    return folder


def evaluation(folder: Path, model: Path, **changes: Any) -> dict[str, Any]:
    return {"kind": "evaluation", "folder": folder, "model": str(model)} | changes


def work(folder: Path) -> Counter[str]:
    """Returns how often each batch was run, and the contract checked, in all processes."""
    log = folder.with_suffix(".work")
    return Counter(log.read_text().splitlines()) if log.exists() else Counter()


def stored(folder: Path) -> dict[str, bytes]:
    """Returns every stored batch and stage."""
    if not (folder / JOURNAL_FILE).exists():
        return {}
    with closing(sqlite3.connect(folder / JOURNAL_FILE)) as database:
        try:
            batches = database.execute("SELECT evaluation || '/' || key, payload FROM batches").fetchall()
            return dict(batches + database.execute("SELECT key, payload FROM evaluations").fetchall())
        except sqlite3.OperationalError:  # killed before the tables were made
            return {}


@pytest.fixture(scope="session")
def whole(runner: Any, model: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Returns what an evaluation prints that nobody disturbed."""
    folder = tmp_path_factory.mktemp("whole") / "evaluation"
    ended = runner.run(**evaluation(folder, model))
    assert ended.code == 0, ended.err
    assert ended.statements < MOST_STATEMENTS
    assert len(work(folder)) == BATCHES + 1
    assert ended.json["contract"] == {"games": 1, "hidden_pairs": 0, "violations": []}
    text: str = ended.out
    return text


class Evaluation(RuleBasedStateMachine):
    """Starts, kills, resumes, duplicates and reconfigures one evaluation, in any order."""

    runner: Any
    model: Path
    whole: str
    folders: Any

    @initialize()
    def new_folder(self) -> None:
        self.folder = self.folders.mktemp("machine") / "evaluation"
        self.kills = 0
        self.finished = False

    @rule(at=st.integers(1, MOST_STATEMENTS), how=st.sampled_from(["before", "after"]))
    def kill(self, at: int, how: str) -> None:
        ended = self.runner.run(**evaluation(self.folder, self.model, fault=[at, how]))
        assert ended.code in (0, -signal.SIGKILL), ended.err
        if ended.code == 0:
            self._is_whole(ended)
        else:
            self.kills += 1

    @rule(at=st.integers(1, MOST_STATEMENTS))
    def fill_the_disk(self, at: int) -> None:
        ended = self.runner.run(**evaluation(self.folder, self.model, fault=[at, "full"]))
        if ended.code == 0:
            self._is_whole(ended)
        else:
            assert ended.code == 4, ended.err
            assert "database or disk is full" in ended.err
            self.kills += 1

    @rule()
    def resume(self) -> None:
        before = work(self.folder)
        ended = self.runner.run(**evaluation(self.folder, self.model))
        assert ended.code == 0, ended.err
        if self.finished:
            assert work(self.folder) == before
        self._is_whole(ended)

    @precondition(lambda self: bool(stored(self.folder)))
    @rule()
    def duplicate(self) -> None:
        with RunRecord.open(self.folder):
            ended = self.runner.run(**evaluation(self.folder, self.model))
        assert ended.code == 4
        assert f"is locked: process {os.getpid()} works on it" in ended.err

    @precondition(lambda self: bool(stored(self.folder)))
    @rule(change=st.sampled_from([{"transitions": 61}, {"seed": 2}]))
    def reconfigure(self, change: dict[str, Any]) -> None:
        before = stored(self.folder)
        ended = self.runner.run(**evaluation(self.folder, self.model, **change))
        assert ended.code == 2
        named = {
            "transitions": "config.games.fresh transitions: 60 in the record, 61 now",
            "seed": "seeds.seed: 1 in the record, 2 now",
        }
        assert named[next(iter(change))] in ended.err
        assert stored(self.folder) == before

    @invariant()
    def no_batch_is_run_again_that_was_stored(self) -> None:
        if hasattr(self, "folder"):
            # Each death can cost one batch that was run and not yet stored.
            assert work(self.folder).total() <= BATCHES + 1 + self.kills

    def _is_whole(self, ended: Any) -> None:
        assert ended.out == self.whole
        assert sorted(stored(self.folder)) == ["contract", "figures"]
        self.finished = True


@pytest.mark.parametrize("orders", [3, pytest.param(8, marks=pytest.mark.slow)])
def test_any_order_of_kills_resumes_duplicates_and_other_settings_keeps_every_promise(
    runner: Any, model: Path, whole: str, tmp_path_factory: pytest.TempPathFactory, orders: int
) -> None:
    given = {"runner": runner, "model": model, "whole": whole, "folders": tmp_path_factory}
    machine = type("Machine", (Evaluation,), given)
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large]
    limits = settings(
        max_examples=orders,
        stateful_step_count=6,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=checks,
    )
    machine.TestCase.settings = limits  # type: ignore[attr-defined]
    machine.TestCase().runTest()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("each", "least"), [pytest.param(1, 20, marks=pytest.mark.slow), (10, 2)])
def test_kill_at_a_statement_gives_the_same_figures(
    runner: Any, model: Path, whole: str, tmp_path: Path, each: int, least: int
) -> None:
    killed = 0
    for number, at in enumerate(range(1, MOST_STATEMENTS, each)):
        folder = tmp_path / f"{at}" / "evaluation"
        how = ("before", "after")[number % 2]
        killed += runner.run(**evaluation(folder, model, fault=[at, how])).code == -signal.SIGKILL
        done = len(stored(folder))
        before = work(folder).total()
        ended = runner.run(**evaluation(folder, model))
        assert ended.code == 0, ended.err
        assert ended.out == whole
        assert work(folder).total() - before <= BATCHES + 1 - min(done, BATCHES)
        assert max(work(folder).values()) <= 2
    assert killed >= least


def test_finished_evaluation_again_runs_nothing(runner: Any, model: Path, whole: str, tmp_path: Path) -> None:
    folder = tmp_path / "evaluation"
    assert runner.run(**evaluation(folder, model)).out == whole
    before, rows = work(folder), stored(folder)
    again = runner.run(**evaluation(folder, model, workers=2))
    assert (again.code, again.out) == (0, whole)
    assert (work(folder), stored(folder)) == (before, rows)


def test_batch_that_broke_through_a_fault_of_ours_is_in_no_score_and_is_run_once_more(
    runner: Any, model: Path, whole: str, tmp_path: Path
) -> None:
    folder = tmp_path / "evaluation"
    assert runner.run(**evaluation(folder, model)).code == 0
    *batches, contract = work(folder)
    assert contract == "contract"
    other = tmp_path / "other"
    broken = runner.run(**evaluation(other, model, breaks=batches[1]))
    assert broken.code == 4
    assert "25 tests broke through a fault of ours and are in no score" in broken.err
    assert broken.json["kinds"]["transition"]["ours"] == 25
    assert broken.json["kinds"]["transition"]["accuracy"] == 1.0
    ended = runner.run(**evaluation(other, model))
    assert (ended.code, ended.out) == (0, whole)
    assert work(other) == Counter({name: 1 + (name == batches[1]) for name in [*batches, contract]})


def test_second_process_is_told_who_holds_a_stopped_evaluation(
    runner: Any, model: Path, whole: str, tmp_path: Path
) -> None:
    folder = tmp_path / "evaluation"
    pid = runner.start(**evaluation(folder, model))
    while not work(folder):
        time.sleep(0.002)
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(Exception, match=f"is locked: process {pid} works on it"):
        RunRecord.open(folder)
    os.kill(pid, signal.SIGKILL)
    assert runner.wait().code == -signal.SIGKILL
    ended = runner.run(**evaluation(folder, model))
    assert (ended.code, ended.out) == (0, whole)


def test_real_limit_on_the_size_of_files_is_a_named_error_and_loses_nothing(
    runner: Any, model: Path, whole: str, tmp_path: Path
) -> None:
    folder = tmp_path / "evaluation"
    codes = []
    for size in (0, 4096, 40_000, 80_000):
        ended = runner.run(**evaluation(folder, model, largest_file=size))
        codes.append(ended.code)
        if ended.code:
            assert ended.code == 4, ended.err
            assert "Traceback" not in ended.err
    assert codes[0] == 4
    ended = runner.run(**evaluation(folder, model))
    assert (ended.code, ended.out) == (0, whole)


@pytest.mark.parametrize("share", [0.5, *(pytest.param(share, marks=pytest.mark.slow) for share in (0.1, 0.9))])
def test_damaged_journal_is_a_named_error(runner: Any, model: Path, tmp_path: Path, share: float) -> None:
    folder = tmp_path / "evaluation"
    assert runner.run(**evaluation(folder, model)).code == 0
    path = folder / JOURNAL_FILE
    content = bytearray(path.read_bytes())
    place = int(len(content) * share) // 4096 * 4096
    content[place : place + 4096] = b"\x7f" * 4096
    path.write_bytes(content)
    ended = runner.run(**evaluation(folder, model))
    assert ended.code == 4
    assert f"{path} is damaged" in ended.err
    assert path.read_bytes() == bytes(content)


@pytest.mark.parametrize("file", ["run.json", "evaluation.json"])
def test_damaged_file_of_settings_is_a_named_error(runner: Any, model: Path, tmp_path: Path, file: str) -> None:
    folder = tmp_path / "evaluation"
    assert runner.run(**evaluation(folder, model)).code == 0
    (folder / file).write_text('{"cut')
    ended = runner.run(kind="resume", folder=folder)
    assert ended.code == 4
    assert f"{folder / file} is damaged" in ended.err


def test_killed_evaluation_goes_on_with_cwm_resume(runner: Any, model: Path, whole: str, tmp_path: Path) -> None:
    folder = tmp_path / "evaluation"
    assert runner.run(**evaluation(folder, model, fault=[MOST_STATEMENTS // 2, "after"])).code == -signal.SIGKILL
    ended = runner.run(kind="resume", folder=folder)
    assert (ended.code, ended.out) == (0, whole)
