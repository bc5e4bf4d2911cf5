"""What commands say beside their results: version, encodings, what is kept, where files can be written."""

import errno
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

import cwm as package
from arena import cli
from arena.commands import synthesize, trajectories
from arena.runs.standard import standard_settings
from cwm.trajectories.recorded import collect, write
from games import registry


def test_the_version_is_told(cwm: Any) -> None:
    assert cwm("--version").out == f"cwm {package.__version__}\n"


@pytest.mark.parametrize(
    ("typed", "completed"), [("cwm pla", "play"), ("cwm games ren", "render"), ("cwm arena --dea", "--deals")]
)
def test_a_shell_completes_commands_and_options(
    typed: str, completed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_CWM_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
    with pytest.raises(SystemExit, match="0"):
        cli.run([])
    assert capsys.readouterr().out.split() == [completed]


@pytest.mark.parametrize(
    ("text", "shown"), [("0.5 ± 0.1", "0.5 +- 0.1"), ("Yōkai", "Yokai"), ("a – b", "a - b"), ("日", "?")]
)
def test_a_narrow_encoding_gets_the_nearest_characters(monkeypatch: Any, text: str, shown: str) -> None:
    held = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(held, encoding="ascii"))
    cli._print_anything()
    sys.stdout.write(text)
    sys.stdout.flush()
    assert held.getvalue().decode() == shown


def test_python_m_cwm_escapes_json_where_the_encoding_is_narrow(cwm: Any) -> None:
    words = [sys.executable, "-m", "cwm", "games", "list", "--json"]
    ran = subprocess.run(
        words, capture_output=True, check=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}, timeout=60
    )
    assert json.loads(ran.stdout) == cwm("games", "list", "--json").json


def test_who_keeps_nothing_is_told_so(cwm: Any, tmp_path: Path) -> None:
    words = ["arena", "tic_tac_toe", "--agent", "random", "--deals", 1, "--workers", 1]
    assert "nothing is kept: an interrupted command begins anew; --run FOLDER" in cwm(*words).err
    assert "nothing is kept" not in cwm(*words, "--run", tmp_path / "kept").err


def test_a_page_that_cannot_be_written_is_found_out_before_the_games(
    refused: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), "/a/temporary/name")

    monkeypatch.setattr(tempfile, "TemporaryFile", read_only)
    page = tmp_path / "page.html"
    ran = refused("xp", "tic_tac_toe", "--agent", "random", "--html", page)
    assert ran.code == 4
    assert f"{page} cannot be used: Read-only file system" in ran.err
    assert "temporary" not in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ["arena", "tic_tac_toe", "--agent", "random", "--deals", "100000000000"],
        ["arena", "tic_tac_toe", "--agent", f"mcts:sims={10**20}", "--deals", "1"],
        ["xp", "tic_tac_toe", "--agent", "random", "--games", "100000000000"],
        ["compare", "tic_tac_toe", "--simulations", str(10**20)],
    ],
)
def test_what_would_never_end_is_refused(refused: Any, words: list[str]) -> None:
    ran = refused(*words)
    assert ran.code == 2
    assert "1000000" in ran.err.replace(",", "")


@pytest.fixture
def games_file(tmp_path: Path) -> Path:
    path = tmp_path / "games.jsonl"
    write(path, collect(registry.make("tic_tac_toe"), 3, 1))
    return path


def test_a_file_of_windows_with_a_mark_at_its_begin_is_read(cwm: Any, games_file: Path) -> None:
    games_file.write_bytes(b"\xef\xbb\xbf" + games_file.read_bytes())
    assert cwm("trajectories", "check", games_file).code == 0


@pytest.mark.parametrize("broken", [0, 3, -1])
def test_one_broken_line_is_one_problem(cwm: Any, games_file: Path, broken: int) -> None:
    lines = games_file.read_text(encoding="utf-8").splitlines()
    lines[broken] = lines[broken][:40]
    games_file.write_text("\n".join(lines), encoding="utf-8")
    ran = cwm("trajectories", "check", games_file)
    assert (ran.code, ran.err.count("line ")) == (2, 2)  # one in the message of the parser
    assert "(1 problems)" in ran.err


def test_games_of_the_closed_deck_are_recognised_in_one_line(refused: Any, games_file: Path) -> None:
    rows = [json.loads(line) for line in games_file.read_text(encoding="utf-8").splitlines()]
    games_file.write_text("\n".join(json.dumps({**row, "state": None}) for row in rows), encoding="utf-8")
    ran = refused("trajectories", "check", games_file)
    assert ran.code == 2
    assert "looks like games for the closed deck" in ran.err
    assert "read it with --deck closed" in ran.err


def test_the_size_of_a_large_file_is_said_before_it_is_written(
    cwm: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trajectories, "LARGE", 1_000)
    ran = cwm("trajectories", "record", "tic_tac_toe", "--games", 250, "-o", tmp_path / "games.jsonl")
    said, written = ran.err.splitlines()
    size = (tmp_path / "games.jsonl").stat().st_size
    assert said == f"the file will have about {round(size / 1e6)} MB"
    assert written.startswith("250 games of tic_tac_toe")
    few = cwm("trajectories", "record", "tic_tac_toe", "--games", 20, "-o", tmp_path / "games.jsonl")
    assert "MB" not in few.err


def test_questions_in_files_say_where_answers_are_awaited(capsys: pytest.CaptureFixture[str]) -> None:
    synthesize._say_where_answers_go(standard_settings("tic_tac_toe", "spool:box", None, 0))
    assert capsys.readouterr().err == (
        "questions: box/requests; each answer is awaited in box/answers, see box/README.txt\n"
    )
    synthesize._say_where_answers_go(standard_settings("tic_tac_toe", "openai:some", None, 0))
    assert capsys.readouterr().err == ""
