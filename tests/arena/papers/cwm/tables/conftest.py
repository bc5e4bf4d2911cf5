"""One small rebuilding of two games, which many tests read."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena import cli
from arena.papers.cwm.tables import syntheses
from arena.pipeline import function_choice
from arena.runs.settings import RunSettings

SMALL = (
    *("--simulations", "4", "--rollouts", "1", "--matches", "2", "--transitions", "30"),
    *("--seeds", "0", "--workers", "1"),
)


@pytest.fixture(scope="session", autouse=True)
def short_tournaments() -> Iterator[None]:
    """Has recorded value functions chosen by two deals: the recorded runs played for 20 seconds, so that the choice was
    a matter of time."""
    recorded = syntheses.recorded_settings

    def with_few_deals(*wished: Any) -> RunSettings | None:
        found = recorded(*wished)
        return None if found is None else replace(found, tournament_budget=None, tournament_deals=2)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(syntheses, "recorded_settings", with_few_deals)
        patch.setattr(function_choice, "TOURNAMENT_SIMULATIONS", 10)
        yield


@pytest.fixture(scope="session")
def rebuilt(short_tournaments: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of a finished rebuilding of tic_tac_toe and leduc_poker; tests change nothing in it."""
    folder = tmp_path_factory.mktemp("paper") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        assert cli.run(["paper", "--games", "tic_tac_toe,leduc_poker", *SMALL, "--run", str(folder)]) == 0
    return folder
