"""`cwm doctor`, `cwm sandbox run`, and the options on isolation that every command takes."""

from pathlib import Path
from typing import Any

import pytest

from cwm.sandbox.parent import levels
from cwm.sandbox.parent.levels import Probe

PROGRAM = """\
import os

def double(x):
    print("doubling", x)
    return [2 * x, INITIAL_STATE]

def leak():
    return open("/etc/hostname").read()

def end():
    os._exit(0)
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM, encoding="utf-8")
    return file


@pytest.fixture
def no_strong_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS."""
    found = {level: Probe(level, "it needs Linux on x86-64 or aarch64") for level in levels.STRONG}
    monkeypatch.setattr(levels, "probe", lambda level: found.get(level, Probe(level, None)))
    monkeypatch.delenv(levels.ALLOW_PROCESS, raising=False)


needs_strong = pytest.mark.skipif(levels.best() is None, reason="no strong level on this machine")


@needs_strong
def test_the_doctor_finds_that_all_holds(cwm: Any) -> None:
    ran = cwm("doctor", "--json")
    assert ran.code == 0
    assert ran.json["level"] == levels.best()
    assert len(ran.json["properties"]) >= 12
    assert all(item["held"] for item in ran.json["properties"])


@pytest.mark.usefixtures("no_strong_level")
def test_the_doctor_says_how_to_get_a_level_that_holds(cwm: Any) -> None:
    ran = cwm("doctor")
    assert ran.code == 4
    assert "not strong: it needs Linux on x86-64 or aarch64. To get it: use Linux" in ran.out
    assert "programs that do not ship with the project are refused here" in ran.out
    assert "FAIL" in ran.out


def test_a_program_is_run_and_its_outcome_printed(cwm: Any, program: Path) -> None:
    ran = cwm("sandbox", "run", program, "--call", "double", "--args", "[21]", "--initial-state", "{}", "--json")
    assert ran.code == 0
    assert (ran.json["outcome"], ran.json["value"], ran.json["output"]) == ("ok", [42, {}], "doubling 21\n")
    assert ran.json["level"] == levels.best()


def test_a_program_that_reaches_out_ends_with_code_1(cwm: Any, program: Path) -> None:
    ran = cwm("sandbox", "run", program, "--call", "leak")
    assert ran.code == 1
    assert "PermissionError" in ran.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--level", "process"], "add --allow-unsafe-process if it is meant"),
        (["--level", "tight"], "'tight' is no isolation level"),
        (["--level", "seatbelt"], "this version does not have it"),
        (["--args", "3"], "it must be a JSON list"),
        (["--args", "["], "is no JSON"),
        (["--sandbox", "tight"], "'tight' is no isolation level"),
        (["--sandbox", "process"], "add --allow-unsafe-process if it is meant"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(refused: Any, program: Path, words: list[str], said: str) -> None:
    assert said in refused("sandbox", "run", program, "--call", "leak", *words).err


def test_common_options_may_stand_anywhere(cwm: Any, program: Path) -> None:
    call = ("sandbox", "run", program, "--call", "end", "--json")
    for words in (
        ("--sandbox=process", "--allow-unsafe-process", *call),
        (*call, "--allow-unsafe-process", "--sandbox", "process"),
    ):
        ran = cwm(*words)
        assert (ran.code, ran.json["outcome"], ran.json["level"]) == (1, "crashed", "process")
    assert cwm(*call).json["level"] == levels.default() != "process"


@pytest.mark.usefixtures("no_strong_level")
def test_without_a_sandbox_nothing_of_a_language_model_runs(cwm: Any, program: Path, tmp_path: Path) -> None:
    ran = cwm("sandbox", "run", program, "--call", "leak")
    assert (ran.code, "programs that do not ship with the project are not run" in ran.err) == (4, True)
    folder = tmp_path / "run"
    answers = tmp_path / "answers.txt"
    answers.write_text('"```python\\n```"\n', encoding="utf-8")
    ran = cwm("synthesize", "tic_tac_toe", "--llm", f"scripted:{answers}", "--run", folder)
    assert (ran.code, "are not run" in ran.err, folder.exists()) == (4, True, False)
    assert cwm("play", "tic_tac_toe", "--agent", "random").code == 0
