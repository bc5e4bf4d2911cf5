"""`cwm twin` on recordings: a run that replays what ships finds the twin that ships with it, and proves it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.runs.replayed import TWIN, with_twin
from arena.runs.settings import RunSettings
from cwm.llm import recordings

TWINS = [name for name in recordings.bundled_names() if name.endswith(TWIN)]
CLOSED = "connect_four+closed"


def test_a_run_that_replays_asks_the_recording_that_holds_its_twin() -> None:
    assert with_twin(RunSettings("mnk", True)).llm == "replay:mnk+twin"
    assert with_twin(RunSettings("mnk", True, llm="replay:mnk")).llm == "replay:mnk+twin"


@pytest.mark.parametrize("llm", ["openai:mnk", f"replay:{CLOSED}", "replay:mnk+hurried"])
def test_other_runs_ask_whom_they_asked_before(llm: str) -> None:
    assert with_twin(RunSettings("mnk", True, llm=llm)).llm == llm


@pytest.mark.slow
@pytest.mark.parametrize("name", TWINS)
def test_a_recorded_twin_is_proved(name: str, cwm: Callable[..., Any], tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert cwm("synthesize", name.removesuffix(TWIN), "--run", run).code == 0
    told = cwm("twin", run, "--transitions", 2000, "--json").json
    assert told["proved"]
    assert told["calls"] == 1
    assert told["proof"]["transitions"] >= 2000
