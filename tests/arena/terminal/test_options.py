from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from arena.terminal.options import CAPS, NO_CAPS, Seed, takes_caps
from cwm.llm.caps import Caps, CapsError

asked: list[tuple[str, Caps, int]] = []


@takes_caps
def command(name: Annotated[str, typer.Argument()], caps: Caps = NO_CAPS, seed: Seed = 0) -> None:
    asked.append((name, caps, seed))


def test_options_of_caps_stand_where_the_command_has_its_caps() -> None:
    app = typer.Typer()
    app.command()(command)
    words = ["a", "--max-calls", "3", "--max-tokens", "5", "--max-money", "2", "--max-minutes", "1.5"]
    ran = CliRunner().invoke(app, [*words, "--price-in", "0.5", "--price-out", "4", "--seed", "7"])
    assert (ran.exit_code, asked.pop()) == (0, ("a", Caps(3, 5, 2.0, 1.5, 0.5, 4.0), 7))
    text = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200", "TERM": "dumb"}).output
    places = [text.index(f"--{name.replace('_', '-')} ") for name in (*CAPS, "seed")]
    assert places == sorted(places)


def test_without_options_there_are_no_caps() -> None:
    command("b")
    assert asked.pop() == ("b", NO_CAPS, 0)


def test_a_cap_that_is_no_number_is_refused() -> None:
    with pytest.raises(CapsError, match="nan"):
        command("c", max_money=float("nan"))
