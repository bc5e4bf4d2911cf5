"""One small rebuilding of two games, which many tests read."""

from pathlib import Path

import pytest

from arena import cli

SMALL = (
    *("--simulations", "4", "--rollouts", "1", "--matches", "2", "--transitions", "30"),
    *("--seeds", "0", "--workers", "1"),
)


@pytest.fixture(scope="session")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of a finished rebuilding of tic_tac_toe and leduc_poker; tests change nothing in it."""
    folder = tmp_path_factory.mktemp("paper") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        assert cli.run(["paper", "--games", "tic_tac_toe,leduc_poker", *SMALL, "--run", str(folder)]) == 0
    return folder
