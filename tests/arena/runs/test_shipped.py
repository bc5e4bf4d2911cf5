"""Programs that ship with the project: pinned by hash, and the only ones that run where no sandbox holds."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.machine import shipped as shipped_models
from arena.pipeline import recorded_models
from arena.runs import shipped
from arena.runs.standard import standard_settings
from cwm.llm import recordings
from cwm.model.bundle import ModelBundle
from cwm.sandbox.parent import levels
from cwm.sandbox.parent.levels import Probe, Wish
from cwm.sandbox.wire.api import SandboxUnavailableError

REASON = "it needs Linux on x86-64 or aarch64"


@pytest.fixture
def no_strong_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS."""
    found = {level: Probe(level, REASON) for level in levels.STRONG}
    monkeypatch.setattr(levels, "probe", lambda level: found.get(level, Probe(level, None)))
    monkeypatch.delenv(levels.ALLOW_PROCESS, raising=False)


def test_every_recording_is_pinned_as_it_is() -> None:
    assert {game: shipped.recording_hash(game) for game in recordings.bundled_names()} == shipped.RECORDINGS


def test_pinned_models_are_those_of_recordings_that_were_read() -> None:
    read = [name for name in recordings.bundled_names() if "+" not in name]
    # A model is its program and the functions that its tournaments chose: both stand in the recording.
    assert all(recordings.load(name).header.chosen is not None for name in read)
    assert set(shipped_models.BY_RECORDING) == set(read)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(shipped_models.BY_RECORDING))
def test_every_model_of_a_recording_is_pinned(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert ModelBundle.load(recorded_models.folder_of(name)).hash == shipped_models.BY_RECORDING[name]


@pytest.mark.usefixtures("no_strong_level")
def test_a_shipped_run_goes_on_at_process_with_a_notice(capsys: pytest.CaptureFixture[str]) -> None:
    settings = shipped.settings_for(standard_settings("tic_tac_toe", None, None, 0))
    assert settings.level == "process"
    assert "run at level process" in capsys.readouterr().err
    shipped.check(settings)


@pytest.mark.usefixtures("no_strong_level")
@pytest.mark.parametrize("llm", ["openai:some-model", "scripted:answers.txt"])
def test_a_run_of_a_language_model_is_refused_before_anything_is_paid(llm: str) -> None:
    with pytest.raises(SandboxUnavailableError, match="programs that do not ship with the project are not run"):
        shipped.settings_for(standard_settings("tic_tac_toe", llm, None, 0))


@pytest.mark.usefixtures("no_strong_level")
def test_a_recording_that_was_changed_is_not_a_shipped_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(shipped.RECORDINGS, "tic_tac_toe", "0" * 64)
    with pytest.raises(SandboxUnavailableError, match="are not run"):
        shipped.settings_for(standard_settings("tic_tac_toe", None, None, 0))


@pytest.mark.usefixtures("no_strong_level")
def test_only_shipped_models_play_without_a_sandbox() -> None:
    own = sorted(shipped_models.MODELS)[0]
    assert shipped_models.level_of([own]) == "process"
    for models in (["f" * 64], [own, "f" * 64], [None]):
        with pytest.raises(SandboxUnavailableError, match="`allow_unsafe_process`"):
            shipped_models.level_of(models)
    assert shipped_models.level_of([]) == "strong"
    with levels.wishing(Wish(allow_process=True)):
        assert shipped_models.level_of(["f" * 64]) == "process"


def test_a_run_at_process_is_not_taken_up_again_without_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(levels.ALLOW_PROCESS, raising=False)
    settings = replace(standard_settings("tic_tac_toe", "openai:some-model", None, 0), level="process")
    with pytest.raises(SandboxUnavailableError, match="add the option `allow_unsafe_process`"):
        shipped.check(settings)
    with levels.wishing(Wish(allow_process=True)):
        shipped.check(settings)


@pytest.mark.usefixtures("no_strong_level")
def test_the_twin_of_a_shipped_model_that_ships_may_run_at_process() -> None:
    settings = replace(standard_settings("mnk", "replay:mnk+twin", None, 0), level="process")
    shipped.check(settings)
    with pytest.raises(SandboxUnavailableError, match="add the option `allow_unsafe_process`"):
        shipped.check(replace(settings, llm="replay:mnk+hurried"))


def test_a_strong_level_is_never_lowered() -> None:
    best: Any = levels.best()
    if best is None:
        pytest.skip("no strong level on this machine")
    assert shipped.settings_for(standard_settings("tic_tac_toe", None, None, 0)).level == best
    assert shipped_models.level_of(sorted(shipped_models.MODELS)) == best
