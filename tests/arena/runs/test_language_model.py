"""The language model of a run: its cap on time counts what earlier processes used."""

from pathlib import Path

import pytest

from arena.runs import language_model
from arena.runs.folder import open_record
from arena.runs.inputs import registered
from arena.runs.settings import RunSettings
from cwm.llm import caps
from cwm.llm.api import BudgetExceededError, Message, Request
from cwm.llm.budget import Budget
from cwm.llm.caps import Caps, CapsError


def test_seconds_of_earlier_processes_count_towards_the_cap(tmp_path: Path) -> None:
    settings = RunSettings("tic_tac_toe", True, llm="replay:tic_tac_toe")
    inputs = registered("tic_tac_toe", 1, 0)
    now = [0.0]
    earlier = Budget(seconds=60.0, clock=lambda: now[0])
    now[0] = 61.0
    with open_record(tmp_path, settings, inputs, Caps(minutes=1)) as record:
        caps.write_elapsed(tmp_path, earlier)
        spent = caps.budget(Caps(minutes=1))
        model = language_model.compose(settings, Caps(minutes=1), record, spent, None)
        with pytest.raises(BudgetExceededError, match="60 s is reached"):
            model.complete(Request((Message("user", "?"),), "test"))


def test_a_run_that_never_called_has_used_no_time(tmp_path: Path) -> None:
    assert caps.read_elapsed(tmp_path) == 0.0


def test_a_damaged_count_of_seconds_is_named(tmp_path: Path) -> None:
    (tmp_path / "elapsed.json").write_text("{")
    with pytest.raises(CapsError, match="delete it"):
        caps.read_elapsed(tmp_path)
