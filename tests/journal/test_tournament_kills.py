"""The promises of the journal for tournaments: real processes, killed with SIGKILL at chosen statements."""

import json
import os
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from arena.matches.store import FILE_NAME, GameStore
from arena.matches.verification import verify_games

AGENTS = ["random:name=a", "random:name=b"]
DEALS = 4
GAMES = 2 * DEALS
MOST_STATEMENTS = 32

Rows = dict[str, tuple[str, str]]


def stored(folder: Path) -> Rows:
    """Returns every stored game, its times too: a game that was played twice would have others."""
    if not (folder / FILE_NAME).exists():
        return {}
    with closing(sqlite3.connect(folder / FILE_NAME)) as database:
        try:
            return {
                key: (game, times) for key, game, times in database.execute("SELECT key, record, seconds FROM games")
            }
        except sqlite3.OperationalError:  # killed before the tables were made
            return {}


def timeless(standings: dict[str, Any]) -> str:
    for agent in standings["agents"]:
        agent.pop("seconds")
    return json.dumps(standings, sort_keys=True)


def cup(folder: Path, **changes: Any) -> dict[str, Any]:
    return {"kind": "tournament", "folder": folder, "game": "leduc_poker", "agents": AGENTS, "deals": DEALS} | changes


@pytest.fixture(scope="session")
def whole(runner: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Returns the standings of a tournament that nobody disturbed, without times."""
    ended = runner.run(**cup(tmp_path_factory.mktemp("whole") / "cup"))
    assert ended.code == 0, ended.err
    assert ended.statements < MOST_STATEMENTS
    return timeless(ended.json["standings"])


class Tournament(RuleBasedStateMachine):
    """Starts, kills, resumes, duplicates and reconfigures one tournament, in any order."""

    runner: Any
    whole: str
    folders: Any

    @initialize()
    def new_folder(self) -> None:
        self.folder = self.folders.mktemp("machine") / "cup"
        self.seen: Rows = {}
        self.finished = False

    @rule(at=st.integers(1, MOST_STATEMENTS), how=st.sampled_from(["before", "after"]))
    def kill(self, at: int, how: str) -> None:
        before = self.seen
        ended = self.runner.run(**cup(self.folder, fault=[at, how]))
        assert ended.code in (0, -signal.SIGKILL), ended.err
        if ended.code == 0:
            self._is_whole(ended)
        assert stored(self.folder).items() >= before.items()

    @rule(at=st.integers(1, MOST_STATEMENTS))
    def fill_the_disk(self, at: int) -> None:
        ended = self.runner.run(**cup(self.folder, fault=[at, "full"]))
        if ended.code == 0:
            self._is_whole(ended)
        else:
            assert ended.code == 4, ended.err
            assert "database or disk is full" in ended.err

    @rule()
    def resume(self) -> None:
        missing = GAMES - len(stored(self.folder))
        ended = self.runner.run(**cup(self.folder))
        assert ended.code == 0, ended.err
        if self.finished:
            assert missing == 0
        self._is_whole(ended)

    @precondition(lambda self: bool(stored(self.folder)))
    @rule()
    def duplicate(self) -> None:
        config = verify_games(self.folder).config
        with GameStore(self.folder, config.to_json()):
            ended = self.runner.run(**cup(self.folder))
        assert ended.code == 4
        assert "is open in another process" in ended.err

    @precondition(lambda self: bool(stored(self.folder)))
    @rule(change=st.sampled_from([{"deals": DEALS + 1}, {"seed": 1}, {"agents": ["random:name=a", "random:name=c"]}]))
    def reconfigure(self, change: dict[str, Any]) -> None:
        ended = self.runner.run(**cup(self.folder, **change))
        assert ended.code == 2
        assert "holds games of another configuration (" in ended.err
        named = {"deals": "deals: 4 in", "seed": "seed: 0 in", "agents": 'name: "b" in the record, "c" now'}
        assert named[next(iter(change))] in ended.err

    @invariant()
    def nothing_is_lost_and_nothing_changes(self) -> None:
        if not hasattr(self, "folder"):
            return
        now = stored(self.folder)
        assert now.items() >= self.seen.items()
        assert len(now) <= GAMES
        self.seen = now

    def _is_whole(self, ended: Any) -> None:
        assert timeless(ended.json["standings"]) == self.whole
        assert len(stored(self.folder)) == GAMES
        assert verify_games(self.folder).problems == ()
        self.finished = True


@pytest.mark.parametrize("orders", [3, pytest.param(8, marks=pytest.mark.slow)])
def test_any_order_of_kills_resumes_duplicates_and_other_settings_keeps_every_promise(
    runner: Any, whole: str, tmp_path_factory: pytest.TempPathFactory, orders: int
) -> None:
    machine = type("Machine", (Tournament,), {"runner": runner, "whole": whole, "folders": tmp_path_factory})
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large]
    limits = settings(
        max_examples=orders,
        stateful_step_count=8,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=checks,
    )
    machine.TestCase.settings = limits  # type: ignore[attr-defined]
    machine.TestCase().runTest()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("each", "least"), [pytest.param(1, 32, marks=pytest.mark.slow), (10, 3)])
def test_kill_at_a_statement_gives_the_same_standings(
    runner: Any, whole: str, tmp_path: Path, each: int, least: int
) -> None:
    killed = 0
    for at in range(1, MOST_STATEMENTS, each):
        for how in ("before", "after"):
            folder = tmp_path / f"{at}-{how}" / "cup"
            killed += runner.run(**cup(folder, fault=[at, how])).code == -signal.SIGKILL
            kept = stored(folder)
            ended = runner.run(**cup(folder))
            assert ended.code == 0, ended.err
            assert timeless(ended.json["standings"]) == whole
            assert stored(folder).items() >= kept.items()
    assert killed >= least


def test_finished_tournament_again_plays_nothing(runner: Any, tmp_path: Path) -> None:
    folder = tmp_path / "cup"
    first = runner.run(**cup(folder))
    rows = stored(folder)
    again = runner.run(**cup(folder))
    assert (first.code, again.code) == (0, 0)
    assert again.out == first.out
    assert again.statements < first.statements - GAMES + 1
    assert stored(folder) == rows


def test_second_process_is_told_while_the_first_one_is_stopped_and_goes_on_after_its_kill(
    runner: Any, whole: str, tmp_path: Path
) -> None:
    folder = tmp_path / "cup"
    pid = runner.start(**cup(folder, agents=["ismcts:sims=300,name=a", "random:name=b"]))
    while not stored(folder):
        time.sleep(0.01)
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(Exception, match="is open in another process"):
        GameStore(folder, {})
    os.kill(pid, signal.SIGKILL)
    assert runner.wait().code == -signal.SIGKILL
    ended = runner.run(**cup(folder, agents=["ismcts:sims=300,name=a", "random:name=b"]))
    assert ended.code == 0, ended.err


def test_real_limit_on_the_size_of_files_is_a_named_error_and_loses_nothing(
    runner: Any, whole: str, tmp_path: Path
) -> None:
    folder = tmp_path / "cup"
    codes = []
    for size in (0, 4096, 16_000, 32_000, 40_000, 50_000, 64_000):
        kept = stored(folder)
        ended = runner.run(**cup(folder, largest_file=size))
        codes.append(ended.code)
        if ended.code:
            assert ended.code == 4, ended.err
            assert "Traceback" not in ended.err
        assert stored(folder).items() >= kept.items()
    assert codes[0] == 4
    assert codes.count(4) >= 3
    ended = runner.run(**cup(folder))
    assert ended.code == 0, ended.err
    assert timeless(ended.json["standings"]) == whole


@pytest.mark.parametrize("share", [0.5, *(pytest.param(share, marks=pytest.mark.slow) for share in (0.1, 0.9))])
def test_damaged_file_of_games_is_a_named_error_for_every_command(runner: Any, tmp_path: Path, share: float) -> None:
    folder = tmp_path / "cup"
    assert runner.run(**cup(folder)).code == 0
    content = bytearray((folder / FILE_NAME).read_bytes())
    place = int(len(content) * share) // 4096 * 4096
    content[place : place + 4096] = b"\x7f" * 4096
    (folder / FILE_NAME).write_bytes(content)
    ended = runner.run(**cup(folder))
    assert ended.code == 4
    assert "damaged" in ended.err
    assert (folder / FILE_NAME).read_bytes() == bytes(content)
