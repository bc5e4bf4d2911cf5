"""Two toy games as programs: one of perfect information, one with chance and a hidden coin."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from cwm.sandbox.program import LoadedCode, ProgramGame
from games.api import GameInfo

PROGRAMS = Path(__file__).resolve().parents[1] / "data" / "programs"

INFOS = {
    "three_in_a_row": GameInfo(
        "three_in_a_row", 2, "win_loss_draw", -1.0, 1.0, True, False, ("first", "second"), max_length=9
    ),
    "hidden_coin": GameInfo("hidden_coin", 2, "zero_sum", -1.0, 1.0, False, True, ("holder", "guesser"), max_length=3),
}
INITIAL_STATES = {
    "three_in_a_row": {"board": [None] * 9, "next": "x"},
    "hidden_coin": {"coin": None, "said": [], "guess": None},
}


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
