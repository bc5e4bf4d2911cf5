"""Trainings small enough for tests, on a toy program and on a recorded model."""

import shutil
from dataclasses import asdict
from pathlib import Path

import pytest

from arena.pipeline import recorded_models
from arena.training_on_models import course
from arena.training_on_models.settings import PpoSettings
from cwm.model.bundle import ModelBundle
from cwm.model.environment import training_limits
from cwm.sandbox.parent.host import Sandbox
from games.api import GameInfo

PROGRAMS = Path(__file__).resolve().parents[2] / "data" / "programs"
HIGH_CARD = GameInfo("high_card", 2, "zero_sum", -2.0, 2.0, False, True, ("first", "second"), 2)
TINY = {
    "seeds": 1,
    "environments": 10,
    "horizon": 10,
    "hidden": 16,
    "evaluation_games": 40,
    "explored_games": 200,
    "explored_observations": 400,
    "max_actions": 50,
}


@pytest.fixture(scope="session")
def sandbox():
    return Sandbox(training_limits(256))


@pytest.fixture(scope="session")
def high_card():
    """Returns the bundle of a toy game of hidden cards; it is registered nowhere."""
    source = (PROGRAMS / "high_card.py").read_text(encoding="utf-8")
    return ModelBundle(source, None, {"cards": [], "moves": []}, asdict(HIGH_CARD), "")


@pytest.fixture(scope="session")
def settings():
    """Returns tiny settings, with changes."""
    return lambda **changes: PpoSettings(**(TINY | {"steps": 400} | changes))


@pytest.fixture(scope="session")
def recorded():
    """Returns the recorded model of tic-tac-toe."""
    return ModelBundle.load(recorded_models.folder_of("tic_tac_toe"))


@pytest.fixture(scope="session")
def trained(recorded, sandbox, settings, tmp_path_factory):
    """Returns a folder with agents of both seats, hardly trained, and what was said of them."""
    folder = tmp_path_factory.mktemp("ppo")
    said = []
    found = course.train(
        recorded, [0, 1], settings(seeds=2, steps=200), folder, sandbox, said.append, lambda progress: None
    )
    return folder, found, said


@pytest.fixture
def copied(trained, tmp_path):
    """Returns a copy of the folder of agents, to be damaged."""
    return Path(shutil.copytree(trained[0], tmp_path / "copy"))
