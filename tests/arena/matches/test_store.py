import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.matches.match import GameRecord
from arena.matches.store import FILE_NAME, ConfigMismatchError, GameStore, StoreError, StoreLockedError

Builder = Callable[..., GameRecord]


def test_games_come_back_as_they_were(tmp_path: Path, record: Builder) -> None:
    game = record("a b", [1.0, -1.0])
    with GameStore(tmp_path, {"seed": 1}) as store:
        store.add("key", game)
    with GameStore(tmp_path, {"seed": 1}) as store:
        assert store.games() == {"key": game}


def test_first_result_of_a_game_stays(tmp_path: Path, record: Builder) -> None:
    with GameStore(tmp_path, {}) as store:
        store.add("key", record("a b", [1.0, -1.0]))
        store.add("key", record("a b", [-1.0, 1.0]))
        assert store.games()["key"].returns == (1.0, -1.0)


def test_faults_are_counted_by_game(tmp_path: Path) -> None:
    with GameStore(tmp_path, {}) as store:
        assert [store.add_fault("x", "pipe"), store.add_fault("x", "pipe"), store.add_fault("y", "fork")] == [1, 2, 1]
        assert store.faults() == {"x": ["pipe", "pipe"], "y": ["fork"]}


def test_other_configuration_is_refused_with_the_difference(tmp_path: Path) -> None:
    GameStore(tmp_path, {"seed": 1, "agents": {"a": 1}}).close()
    with pytest.raises(ConfigMismatchError, match=r"agents\.a: 1 in the record, 2 now; seed: 1 in the record, 3 now"):
        GameStore(tmp_path, {"seed": 3, "agents": {"a": 2}})
    GameStore(tmp_path, {"seed": 1, "agents": {"a": 1}}).close()


def test_second_process_is_told_that_the_file_is_locked(tmp_path: Path) -> None:
    script = "import sys, pathlib; from arena.matches.store import GameStore; GameStore(pathlib.Path(sys.argv[1]), {})"
    with GameStore(tmp_path, {}):
        child = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True)
        assert "StoreLockedError" in child.stderr
        with pytest.raises(StoreLockedError, match="open in another process"):
            GameStore(tmp_path, {})
    assert subprocess.run([sys.executable, "-c", script, str(tmp_path)]).returncode == 0


def test_corrupt_file_is_a_named_error(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"this is no database, whatever its name says" * 100)
    with pytest.raises(StoreError, match="cannot be used"):
        GameStore(tmp_path, {})
    assert (tmp_path / FILE_NAME).read_bytes().startswith(b"this is no database")


def test_folder_that_cannot_be_made_is_a_named_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        GameStore(tmp_path / "file", {})
