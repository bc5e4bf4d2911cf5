"""Twins that ship: put beside the model that was replayed from its recording, once, and proved there."""

import shutil
from pathlib import Path

import pytest

from arena.pipeline import recorded_models, twin
from cwm.model.bundle import ModelBundle
from cwm.twins.stored import FACTS_FILE, FOLDER, StoredTwin

MODEL = Path(__file__).parents[2] / "data" / "begun" / "recorded_quadranto"


def test_a_model_alone_has_no_recording_that_tells_of_a_twin(tmp_path: Path) -> None:
    shutil.copytree(MODEL, tmp_path / "model")
    assert not twin.add_recorded(tmp_path)


@pytest.mark.slow
def test_a_recorded_model_gets_the_twin_that_ships_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    run = recorded_models.folder_of("tic_tac_toe")
    told: list[str] = []
    assert twin.add_recorded(run, told.append)
    stored = StoredTwin.load(run / "model")
    assert stored.model == ModelBundle.load(run).hash
    assert stored.proof["transitions"] >= twin.SHIPPED_TRANSITIONS
    assert told[0].startswith("replaying the twin of tic_tac_toe that ships")
    told.clear()
    assert twin.add_recorded(run, told.append)
    assert told == []
    # What another version wrote, or somebody damaged, is made anew.
    (run / "model" / FOLDER / FACTS_FILE).write_text("{}")
    assert twin.add_recorded(run, told.append)
    assert StoredTwin.load(run / "model") == stored


@pytest.mark.slow
def test_a_recording_without_a_twin_leads_to_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert not twin.add_recorded(recorded_models.folder_of("tic_tac_toe+hurried"))
