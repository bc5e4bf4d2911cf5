"""Recorded completions that ship with the project, known by hash: their programs are the only ones that run where no
sandbox holds.
"""

import hashlib
import json
from dataclasses import replace
from importlib import resources
from typing import Final

from arena.machine import shipped
from arena.runs.replayed import REPLAY, TWIN
from arena.runs.settings import DEFAULT_LLM, RunSettings
from cwm.llm import recordings
from cwm.sandbox.parent import levels
from cwm.sandbox.wire.api import SandboxUnavailableError

RECORDINGS: Final[dict[str, str]] = json.loads(
    resources.files(__package__).joinpath("shipped_recordings.json").read_text(encoding="ascii")
)
"""SHA-256 of each recording, see `recording_hash`."""


def recording_hash(name: str) -> str:
    """Returns the SHA-256 of the recorded completions of a recording, as lines of JSON."""
    lines = [record.line() for record in recordings.load(name).records]
    return hashlib.sha256("\n".join(lines).encode("utf-8")).hexdigest()


def settings_for(settings: RunSettings) -> RunSettings:
    """Returns a new run's settings, at level `process` where nothing better is to be had and the run is a shipped one.

    Raises:
        SandboxUnavailableError: its programs may not run here.
    """
    if _is_shipped(settings) and not shipped.is_strong(settings.level):
        settings = replace(settings, level=shipped.lowered())
    check(settings)
    return settings


def check(settings: RunSettings) -> None:
    """Checks that the programs of a run may run at its level, before anything is paid for.

    Raises:
        SandboxUnavailableError: they may not.
    """
    if settings.level == "process" and not levels.process_allowed() and not _is_shipped(settings):
        raise SandboxUnavailableError(
            "The run is at isolation level 'process', which does not stop a hostile program; add "
            "the option `allow_unsafe_process` to go on with it, or start it anew."
        )
    levels.ensure(settings.level)


def _is_shipped(settings: RunSettings) -> bool:
    """Whether the run replays a recording that ships, and that somebody has read."""
    provider, _, place = settings.llm.partition(":")
    if settings.llm == DEFAULT_LLM and settings.seed in recordings.bundled_seeds(settings.recorded):
        name = recordings.name_of(settings.recorded, settings.seed)
    elif provider == REPLAY and place in recordings.bundled_names():
        name = place
    else:
        return False
    # The recordings of twins lead to twins of models that are known, and are pinned like those of the models.
    return name.removesuffix(TWIN) in shipped.BY_RECORDING and RECORDINGS.get(name) == recording_hash(name)
