"""Programs that ship with the project, known by hash: the only ones that run where no sandbox holds.

On a machine without a strong isolation level (macOS, other processors) a language model's program is refused, unless
the user allows it. The recorded completions of the demo were read before they were shipped: their programs may run at
level `process` there, with a notice.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from arena import console
from arena.run_settings import DEFAULT_LLM, RunSettings
from cwm.llm import recordings
from cwm.sandbox import levels
from cwm.sandbox.api import Level, SandboxUnavailableError

RECORDINGS: Final[dict[str, str]] = {
    "connect_four": "662725d4cf8c0e148b7f7edcc326b5d25c2500ba3dbad2c879ba1577503f04f1",
    "leduc_poker": "f2f15c55ecb5e476546e89ce6134182ac2c1c7adf08c1563a9a463b534d091d2",
    "tic_tac_toe": "5a1df0a201f462a530de4235b7993e173dc028edb9aefab98e85b2072a26615f",
    "yokai-9c-2p": "8ca6c3992388393e1caa290ae0bd94a973e2444732320523b05cf63c1f1b9c63",
}
"""SHA-256 of each recording by its name, see `recording_hash`."""
MODELS: Final[frozenset[str]] = frozenset(
    {
        "8ee84e09ab5b5dedb08b359c3b2620a4dd9e9500f40cacbcce923d169b1a7a3c",
        "8ae315949e4f4d36d1fad2585ec40ddc739f265d3c85247ecbfc9de9ff751ab8",
        "b82031176ac6b7ec3d5ee499395318eeb8a521ccee4819bae468792c71f2d323",
        "1a482eaae9afcaeaff55cd6cd69a4d3dca99c2b28d4ab77d4355d50287483cae",
    }
)
"""SHA-256 of the models that the recordings lead to, see `ModelBundle.hash`."""


def recording_hash(name: str) -> str:
    """Returns the SHA-256 of the recorded completions of a recording, as lines of JSON."""
    lines = [record.line() for record in recordings.load(name).records]
    return hashlib.sha256("\n".join(lines).encode("utf-8")).hexdigest()


def settings_for(settings: RunSettings) -> RunSettings:
    """Returns a new run's settings, at level `process` where nothing better is to be had and the run is a shipped one.

    Raises:
        SandboxUnavailableError: its programs may not run here.
    """
    if _is_shipped(settings) and not _strong(settings.level):
        settings = replace(settings, level=_lowered())
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
            "--allow-unsafe-process to go on with it, or start it anew."
        )
    levels.ensure(settings.level)


def level_of(models: Sequence[str | None]) -> Level:
    """Returns the level at which models run together.

    Args:
        models: hashes, see `ModelBundle.hash`; None for one that is not known.

    Raises:
        SandboxUnavailableError: one of them may not run here.
    """
    level = levels.default()
    if not models:
        return level
    if not _strong(level) and set(models) <= MODELS:
        return _lowered()
    levels.ensure(level)
    return level


def _strong(level: Level) -> bool:
    return level not in levels.STRONG or levels.probe(level).problem is None


def _is_shipped(settings: RunSettings) -> bool:
    if settings.llm != DEFAULT_LLM or settings.seed not in recordings.bundled_seeds(settings.game):
        return False
    name = recordings.name_of(settings.game, settings.seed)
    return RECORDINGS.get(name) == recording_hash(name)


def _lowered() -> Level:
    console.notices.print(
        "no sandbox that holds against hostile programs is to be had here; these programs ship with the project and "
        "run at level process (`cwm doctor` says more)"
    )
    return "process"
