"""Programs of two toy games, and broken variants of them."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from cwm.sandbox.api import Limits, ProgramSource
from cwm.sandbox.host import Sandbox
from games.api import GameInfo

PROGRAMS = Path(__file__).resolve().parents[2] / "data" / "programs"
INFOS = {
    "tic_tac_toe": GameInfo("tic_tac_toe", 2, "win_loss_draw", -1.0, 1.0, True, False, ("x", "o"), 9),
    "high_card": GameInfo("high_card", 2, "zero_sum", -2.0, 2.0, False, True, ("first", "second"), 2),
}
INITIAL = {"tic_tac_toe": {"board": [None] * 9, "mark": "x"}, "high_card": {"cards": [], "moves": []}}

MakeProgram = Callable[..., ProgramSource]


@pytest.fixture(scope="session")
def toy() -> MakeProgram:
    """Returns a function (name, replacements) -> program; each replacement (old, new) must apply exactly once."""

    def make(name: str, *replacements: tuple[str, str], value_source: str | None = None) -> ProgramSource:
        source = (PROGRAMS / f"{name}.py").read_text(encoding="utf-8")
        for old, new in replacements:
            assert source.count(old) == 1, old
            source = source.replace(old, new)
        return ProgramSource(source, INITIAL[name], asdict(INFOS[name]), value_source)

    return make


@pytest.fixture(scope="session")
def one_function() -> Callable[[str], ProgramSource]:
    """Returns a function from the body of `f(x)` to a program that defines nothing else."""

    def make(body: str) -> ProgramSource:
        lines = "\n".join(f"    {line}" for line in body.splitlines())
        return ProgramSource(f"def f(x):\n{lines}\n", {}, asdict(INFOS["tic_tac_toe"]))

    return make


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    return Sandbox(Limits(memory_mb=256, wall_s=20.0, reply_bytes=1_000_000))


@pytest.fixture(scope="session")
def open_sandbox() -> Sandbox:
    """Level process, where a program can look at its own process and at others."""
    return Sandbox(Limits(memory_mb=256, wall_s=20.0, reply_bytes=1_000_000), "process")
