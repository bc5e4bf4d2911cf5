"""Disks that are truly read-only (EROFS) or full (ENOSPC): a named error in one sentence, and nothing stored is lost.

The file system of a folder is changed for one process by bubblewrap, so that root meets it like everybody else.
"""

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena.matches.store import FILE_NAME

BUBBLEWRAP = ["bwrap", "--dev-bind", "/", "/", "--die-with-parent"]
SYSTEM = 4
CUP = ["arena", "tic_tac_toe", "--agent", "random:name=a", "--agent", "random:name=b", "--workers", "1", "--json"]
DEALS = "300"
SYNTHESIS = ["synthesize", "tic_tac_toe", "--test-transitions", "20", "--workers", "1", "--json"]
# What the small file system held when the command ended is kept, to go on from.
KEEPING = 'folder=$1; kept=$2; shift 2; "$@"; code=$?; cp -r "$folder/." "$kept"; exit $code'


def bubblewrap_works() -> bool:
    if shutil.which("bwrap") is None:
        return False
    command = [*BUBBLEWRAP, "--size", "65536", "--tmpfs", "/tmp", "true"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


pytestmark = pytest.mark.skipif(not bubblewrap_works(), reason="needs bubblewrap that can mount")


def cwm(*arguments: str, around: list[str] | None = None) -> "subprocess.CompletedProcess[str]":
    command = [*(around or []), sys.executable, "-m", "arena", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def in_full(folder: Path, kept: Path, size: int, *arguments: str) -> "subprocess.CompletedProcess[str]":
    around = [
        *BUBBLEWRAP,
        "--size",
        str(size),
        "--tmpfs",
        str(folder),
        "sh",
        "-c",
        KEEPING,
        "-",
        str(folder),
        str(kept),
    ]
    return cwm(*arguments, around=around)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def games(folder: Path) -> dict[str, str]:
    if not (folder / FILE_NAME).exists():
        return {}
    with closing(sqlite3.connect(folder / FILE_NAME)) as database:
        try:
            return dict(database.execute("SELECT key, record FROM games"))
        except sqlite3.OperationalError:  # the disk was full before there were tables
            return {}


def is_one_sentence(text: str, *words: str) -> bool:
    # What a run reports of its progress stands before it.
    last = text.strip().splitlines()[-1].lower()
    return "Traceback" not in text and any(word in last for word in words)


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: timeless(item) for key, item in value.items() if "seconds" not in key}
    return [timeless(item) for item in value] if isinstance(value, list) else value


def test_a_tournament_on_a_read_only_disk_is_refused_in_a_sentence_and_loses_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "cup"
    assert cwm(*CUP, "--deals", "2", "--run", str(folder)).returncode == 0
    before = files(folder)
    around = [*BUBBLEWRAP, "--ro-bind", str(folder), str(folder)]
    ended = cwm(*CUP, "--deals", "2", "--run", str(folder), around=around)
    assert ended.returncode in (0, SYSTEM), ended.stderr
    if ended.returncode:
        assert is_one_sentence(ended.stderr, "read-only", "readonly"), ended.stderr
    assert files(folder) == before


def test_a_tournament_cut_short_goes_on_once_its_disk_can_be_written_again(tmp_path: Path) -> None:
    folder, kept = tmp_path / "cup", tmp_path / "kept"
    folder.mkdir()
    kept.mkdir()
    whole = cwm(*CUP, "--deals", DEALS)
    ended = in_full(folder, kept, 160 * 1024, *CUP, "--deals", DEALS, "--run", str(folder))
    assert ended.returncode == SYSTEM, ended.stderr
    assert is_one_sentence(ended.stderr, "full"), ended.stderr
    stored = games(kept)
    assert stored
    around = [*BUBBLEWRAP, "--ro-bind", str(kept), str(kept)]
    refused = cwm(*CUP, "--deals", DEALS, "--run", str(kept), around=around)
    assert refused.returncode == SYSTEM, refused.stderr
    assert is_one_sentence(refused.stderr, "read-only", "readonly"), refused.stderr
    assert games(kept) == stored
    again = cwm(*CUP, "--deals", DEALS, "--run", str(kept))
    assert again.returncode == 0, again.stderr
    assert games(kept).items() >= stored.items()
    assert timeless(json.loads(again.stdout)["standings"]) == timeless(json.loads(whole.stdout)["standings"])


@pytest.mark.parametrize(
    "size", [pytest.param(4096, marks=pytest.mark.slow), 65536, pytest.param(200 * 1024, marks=pytest.mark.slow)]
)
def test_a_synthesis_on_a_full_disk_is_a_named_error_and_its_calls_are_not_repeated(tmp_path: Path, size: int) -> None:
    folder, kept = tmp_path / "run", tmp_path / "kept"
    folder.mkdir()
    kept.mkdir()
    ended = in_full(folder, kept, size, *SYNTHESIS, "--run", str(folder))
    if ended.returncode not in (0, 1):
        assert ended.returncode == SYSTEM, ended.stderr
        assert is_one_sentence(ended.stderr, "full"), ended.stderr
    assert cwm(*SYNTHESIS, "--run", str(kept)).returncode in (0, 1)


def test_a_synthesis_on_a_read_only_disk_is_refused_in_a_sentence(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    ended = cwm(*SYNTHESIS, "--run", str(folder), around=[*BUBBLEWRAP, "--ro-bind", str(folder), str(folder)])
    assert ended.returncode == SYSTEM, ended.stderr
    assert is_one_sentence(ended.stderr, "read-only", "readonly"), ended.stderr
    assert files(folder) == {}
