"""Every command in the README's code blocks is run, in order, in one folder, as a reader would."""

import io
import json
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from arena import cli
from arena.pipeline import function_choice
from arena.pipeline.timely_tournament import TimelyTournament
from cwm.sandbox.inside.program import LoadedCode
from cwm.trajectories.recorded import collect, write
from games.adapters import action_table
from games.api import GameInfo

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
PROGRAM = ROOT / "tests" / "data" / "programs" / "three_in_a_row.py"
Run = Callable[[list[str]], tuple[int, str]]
FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)

RUN_ELSEWHERE = {
    ("cwm", "demo"): "`make demo`, which takes minutes",
    ("cwm", "benchmark"): "`make benchmarks`, which measures and takes minutes",
    ("cwm", "train", "table"): "tests/arena/papers/yokai/tables/test_trained.py, at a size that takes seconds",
}
"""Beginnings of commands, and what runs them: here only their options are checked."""
RECORDED = "cwm:recorded"
"""Needs a recording to be replayed first, which takes a while."""
SHORTER = (
    (re.compile(r"\b(openai|google|anthropic):\S+"), "scripted:answers.jsonl"),
    (re.compile(r"--base-url \S+"), ""),
    (re.compile(r"\bsims=\d+"), "sims=5"),
    (re.compile(r"--deals \d+"), "--deals 1"),
    (re.compile(r"--simulations \d+"), "--simulations 5"),
    (re.compile(r"--games \d+"), "--games 1"),
    (re.compile(r"\btrain yokai\b"), "train yokai --environments 16 --encoder mlp --core none"),
    (re.compile(r"^cwm (arena|compare)\b"), r"cwm \1 --workers 1"),
    (re.compile(r"\btrain ppo\b"), "train ppo --environments 10 --hidden 16 --evaluation-games 10"),
    (re.compile(r"--steps \d+"), "--steps 1000"),
    (re.compile(r"--snapshots \d+"), "--snapshots 2"),
)
"""What stands here for a language model with a key, and for minutes of search."""


@dataclass(frozen=True)
class Command:
    """One command of the README.

    Attributes:
        line: as it stands there.
    """

    line: str

    @property
    def words(self) -> list[str]:
        return shlex.split(self.line, comments=True)

    @property
    def shorter(self) -> list[str]:
        """Returns the words with a scripted model and less search."""
        text = shlex.join(self.words)
        for pattern, replacement in SHORTER:
            text = pattern.sub(replacement, text)
        return shlex.split(text)

    @property
    def is_run_elsewhere(self) -> bool:
        return any(tuple(self.words[: len(start)]) == start for start in RUN_ELSEWHERE)


def commands(text: str) -> Iterator[Command]:
    """Yields the commands `cwm …` and `make …` of all code blocks, with continued lines joined."""
    for block in FENCE.findall(text):
        for line in re.sub(r"\\\n\s*", "", block).splitlines():
            found = re.match(r"\s*(?:\$ )?(?:\.venv/bin/)?((?:cwm|make)\b.*)", line)
            if found:
                yield Command(found[1].strip())


def cwm_commands() -> list[Command]:
    return [command for command in commands(README.read_text(encoding="utf-8")) if command.words[0] == "cwm"]


def bring_along(folder: Path) -> None:
    """Writes what a reader of the README has: rules and played games of their own, and a model that writes it right."""
    program = PROGRAM.read_text(encoding="utf-8")
    info = GameInfo("noughts", 2, "win_loss_draw", -1.0, 1.0, True, False, ("first", "second"), 9)
    code = LoadedCode({"source": program, "initial_state": {"board": [None] * 9, "next": "x"}, "info": asdict(info)})
    write(folder / "games.jsonl", collect(code.instantiate(), 6, 3))
    (folder / "rules.md").write_text("Three in a row on a board of nine cells.\n", encoding="utf-8")
    answer = json.dumps(f"```python\n{program}\n```") + "\n"
    (folder / "answers.jsonl").write_text(answer, encoding="utf-8")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Returns a function that runs a command in the folder of the test, and returns its exit code and its errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    # All nine actions of the reader's game are legal in its first state.
    monkeypatch.setattr(action_table, "MAX_STATES", 20)
    monkeypatch.setattr(action_table, "PATIENCE", 50)
    # Functions of recorded models are chosen in 20 seconds, or here as soon as everyone has met everyone.
    monkeypatch.setattr(function_choice, "TOURNAMENT_SIMULATIONS", 5)
    monkeypatch.setattr(
        function_choice, "TimelyTournament", lambda played, _, *rest: TimelyTournament(played, 0, *rest)
    )

    def command(words: list[str]) -> tuple[int, str]:
        # Whoever plays gives the first legal action until the game is over.
        monkeypatch.setattr("sys.stdin", io.StringIO("#1\n" * 200))
        capsys.readouterr()
        code = cli.run(words[1:])
        return code, capsys.readouterr().err

    return command


def test_commands_are_found_in_code_blocks_alone() -> None:
    text = "Type `cwm nope`.\n```\ncwm a \\\n  --b  # c\n$ cwm d\n```\ncwm e\n```sh\n.venv/bin/cwm f\n    make g\n```\n"
    assert [command.words for command in commands(text)] == [
        ["cwm", "a", "--b"],
        ["cwm", "d"],
        ["cwm", "f"],
        ["make", "g"],
    ]


def test_make_targets_of_the_readme_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {command.words[1] for command in commands(README.read_text(encoding="utf-8")) if command.words[0] == "make"}
    assert named
    assert named <= targets


@pytest.mark.parametrize("command", cwm_commands(), ids=lambda command: command.line)
def test_every_option_in_the_readme_exists(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([*command.words[1:], "--help"]) == 0, capsys.readouterr().err


def test_every_command_works_in_the_order_of_the_readme(run: Run, tmp_path: Path) -> None:
    bring_along(tmp_path)
    for command in cwm_commands():
        if not command.is_run_elsewhere and RECORDED not in command.line:
            code, errors = run(command.shorter)
            assert code == 0, f"{command.line}: {errors}"


@pytest.mark.slow
def test_every_command_with_a_recorded_model_works(run: Run) -> None:
    for command in cwm_commands():
        if not command.is_run_elsewhere and RECORDED in command.line:
            code, errors = run(command.shorter)
            assert code == 0, f"{command.line}: {errors}"
