import importlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from arena import cli, lazy_commands
from arena.commands import exit_codes

ROOT = Path(__file__).resolve().parents[3]


def commands() -> list[tuple[str, ...]]:
    def below(group: Any, place: tuple[str, ...]) -> list[tuple[str, ...]]:
        found = [place]
        for name, command in getattr(group, "commands", {}).items():
            found += below(command, (*place, name))
        return found

    return below(typer.main.get_command(cli.app), ())


def command_at(place: tuple[str, ...]) -> Any:
    found: Any = typer.main.get_command(cli.app)
    for name in place:
        found = found.commands[name]
    return found


def test_the_commands_are_those_that_the_readme_promises() -> None:
    names = {place[0] for place in commands() if len(place) == 1}
    assert names >= {
        *("games", "play", "trajectories", "synthesize", "evaluate", "arena"),
        *("demo", "report", "llm", "export", "resume", "benchmark"),
    }


@pytest.mark.parametrize("place", commands(), ids=lambda place: " ".join(place) or "cwm")
def test_every_command_has_help_that_begins_with_one_sentence(cwm: Any, place: tuple[str, ...]) -> None:
    ran = cwm(*place, "--help")
    assert ran.code == 0
    assert ran.err == ""
    help_text = command_at(place).help
    assert help_text
    assert "\n" not in help_text.strip()
    assert help_text.strip().endswith(".")


@pytest.mark.parametrize("place", commands(), ids=lambda place: " ".join(place) or "cwm")
def test_every_option_and_argument_is_explained(place: tuple[str, ...]) -> None:
    for parameter in command_at(place).params:
        assert getattr(parameter, "help", "") or parameter.name == "help", f"{place}: {parameter.name}"


def test_the_help_names_every_exit_code(cwm: Any) -> None:
    shown = " ".join(cwm("--help").out.split())
    assert " ".join(exit_codes.DOCUMENTED.split()) in shown
    codes = [
        exit_codes.EXIT_NEGATIVE,
        exit_codes.EXIT_USAGE,
        exit_codes.EXIT_PROVIDER,
        exit_codes.EXIT_SYSTEM,
        exit_codes.EXIT_INTERRUPTED,
    ]
    assert codes == [1, 2, 3, 4, 130]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["gmes"], "No such command 'gmes'. Did you mean 'games', 'agents'? `cwm --help`"),
        (["games", "rules"], "Missing argument 'game'; `cwm games rules --help`"),
        (["games", "list", "--sed", "1"], "No such option: --sed"),
        (["synthesize", "tic_tac_toe", "--retries", "-1"], "'--retries': Input should be greater than or equal to 0"),
        (["synthesize", "tic_tac_toe", "--max-money", "nan"], "'--max-money'"),
        (["arena", "tic_tac_toe", "--agent", "random", "--workers", "0"], "'--workers'"),
        (["benchmark", "nope"], "No such command 'nope'; `cwm benchmark --help`"),
    ],
)
def test_a_command_line_that_does_not_parse_is_one_sentence(refused: Any, words: list[str], named: str) -> None:
    ran = refused(*words)
    assert ran.code == 2
    assert named in ran.err


def test_a_fault_of_ours_is_not_dressed_up(cwm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> list[str]:
        raise KeyError("ours")

    monkeypatch.setattr("games.registry.ids", broken)
    with pytest.raises(KeyError, match="ours"):
        cwm("games", "list")


def test_a_command_waits_for_no_other_commands_imports() -> None:
    program = "import sys; from arena import cli; cli.run(['doctor', '--help']); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    # The table of exit codes is every command's.
    assert set(re.findall(r"arena\.commands\.(\w+)", ran.stdout)) == {"doctor", "exit_codes"}


def test_interrupt_while_a_command_is_loaded_is_answered(refused: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(lazy_commands, "import_module", interrupted)
    ran = refused("doctor")
    assert (ran.code, ran.err) == (130, "error: interrupted.\n")


def test_interrupt_while_the_program_is_loaded_is_answered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = importlib.import_module("arena.__main__")

    def interrupted(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(importlib, "import_module", interrupted)
    with pytest.raises(SystemExit) as stop:
        entry.main()
    assert stop.value.code == 130
    assert capsys.readouterr().err == "error: interrupted.\n"


@pytest.mark.parametrize(("loaded", "left_at_once"), [(True, [130]), (False, [])])
def test_interrupted_work_of_jax_is_not_torn_down(
    monkeypatch: pytest.MonkeyPatch, loaded: bool, left_at_once: list[int]
) -> None:
    """Its threads may still compile, and would end the process as a crash does."""
    left: list[int] = []

    def gone() -> None:
        raise BrokenPipeError

    monkeypatch.setattr(cli, "run", lambda: 130)
    monkeypatch.setattr("os._exit", left.append)
    monkeypatch.setitem(sys.modules, "jax", None)
    if not loaded:
        monkeypatch.delitem(sys.modules, "jax")
    monkeypatch.setattr(sys.stdout, "flush", gone)
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert left == left_at_once
    assert stop.value.code == 130
