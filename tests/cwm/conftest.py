"""Toy games as programs, of perfect information and with something hidden, and broken variants of them."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from cwm.sandbox.inside.program import LoadedCode, ProgramGame
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import Limits, ProgramSource
from games.api import GameInfo

PROGRAMS = Path(__file__).resolve().parents[1] / "data" / "programs"

INFOS = {
    "three_in_a_row": GameInfo(
        "three_in_a_row", 2, "win_loss_draw", -1.0, 1.0, True, False, ("first", "second"), max_length=9
    ),
    "hidden_coin": GameInfo("hidden_coin", 2, "zero_sum", -1.0, 1.0, False, True, ("holder", "guesser"), max_length=3),
    "tic_tac_toe": GameInfo("tic_tac_toe", 2, "win_loss_draw", -1.0, 1.0, True, False, ("x", "o"), 9),
    "high_card": GameInfo("high_card", 2, "zero_sum", -2.0, 2.0, False, True, ("first", "second"), 2),
}
INITIAL_STATES = {
    "three_in_a_row": {"board": [None] * 9, "next": "x"},
    "hidden_coin": {"coin": None, "said": [], "guess": None},
    "tic_tac_toe": {"board": [None] * 9, "mark": "x"},
    "high_card": {"cards": [], "moves": []},
}

MakeProgram = Callable[..., ProgramSource]


@pytest.fixture(scope="session")
def program_text() -> Callable[[str], str]:
    """Returns the right program of a toy game."""
    return lambda name: (PROGRAMS / f"{name}.py").read_text()


@pytest.fixture(scope="session")
def program_game() -> Callable[[str], ProgramGame]:
    """Returns a toy game, run in this process: the test's own code is trusted."""

    def make(name: str) -> ProgramGame:
        source = (PROGRAMS / f"{name}.py").read_text()
        program = {"source": source, "initial_state": INITIAL_STATES[name], "info": asdict(INFOS[name])}
        return LoadedCode(program).instantiate()

    return make


@pytest.fixture(scope="session")
def toy() -> MakeProgram:
    """Returns a function (name, replacements) -> program; each replacement (old, new) must apply exactly once."""

    def make(name: str, *replacements: tuple[str, str], value_source: str | None = None) -> ProgramSource:
        source = (PROGRAMS / f"{name}.py").read_text(encoding="utf-8")
        for old, new in replacements:
            assert source.count(old) == 1, old
            source = source.replace(old, new)
        return ProgramSource(source, INITIAL_STATES[name], asdict(INFOS[name]), value_source)

    return make


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    """At the level that holds best here."""
    return Sandbox(Limits(memory_mb=256, wall_s=20.0, reply_bytes=1_000_000))
