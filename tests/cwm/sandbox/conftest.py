"""Programs of one function, and sandboxes to run them in."""

from collections.abc import Callable
from dataclasses import asdict

import pytest

from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import Limits, ProgramSource
from games.api import GameInfo

TIC_TAC_TOE = GameInfo("tic_tac_toe", 2, "win_loss_draw", -1.0, 1.0, True, False, ("x", "o"), 9)


@pytest.fixture(scope="session")
def one_function() -> Callable[[str], ProgramSource]:
    """Returns a function from the body of `f(x)` to a program that defines nothing else."""

    def make(body: str) -> ProgramSource:
        lines = "\n".join(f"    {line}" for line in body.splitlines())
        return ProgramSource(f"def f(x):\n{lines}\n", {}, asdict(TIC_TAC_TOE))

    return make


@pytest.fixture(scope="session")
def open_sandbox() -> Sandbox:
    """Level process, where a program can look at its own process and at others."""
    return Sandbox(Limits(memory_mb=256, wall_s=20.0, reply_bytes=1_000_000), "process")
