"""What arena/docs/AGENTS.md shows does what it says: each file is written, each command is run, as a reader would."""

import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from arena import cli

TEXT = (Path(__file__).parents[3] / "arena" / "docs" / "AGENTS.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(.*?)^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NAME = re.compile(r"`([a-z]+\.(?:py|sh))`")
COMMANDS = [line for _, kind, text in BLOCK.findall(TEXT) if not kind for line in text.splitlines()]


def files() -> dict[str, str]:
    """Returns the files that the page shows, by the name that stands before each."""
    shown = [(NAME.findall(before), text) for before, kind, text in BLOCK.findall(TEXT) if kind in ("python", "sh")]
    return {names[0]: text for names, text in shown}


def test_every_file_of_a_command_is_shown() -> None:
    assert set(files()) == {"first.py", "first.sh", "mcts.py", "mine.py", "nim.py"}
    assert len(COMMANDS) == 10
    assert all(line.startswith("cwm ") for line in COMMANDS)


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_the_page_does_what_it_says(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in files().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    words = shlex.split(re.sub(r"--deals \d", "--deals 1 --workers 1", line))[1:]
    shorter = ["--games", "1" if "mcts.py" in line else "2"] if "check" in words else []
    assert cli.run([*words, *shorter]) == 0
    said = capsys.readouterr()
    assert "forfeited" not in said.out
    assert ("code of your own" in said.err) == ("python:" in line)
