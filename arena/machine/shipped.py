"""Models that ship with the project, known by hash, and the level of isolation at which models run.

On a machine without a strong isolation level (macOS, other processors) a language model's program is refused, unless
the user allows it. The recorded completions were read before they were shipped: the models that they lead to may run at
level `process` there, with a notice.
"""

import json
from collections.abc import Sequence
from importlib import resources
from typing import Final

from arena.terminal import console
from cwm.sandbox.parent import levels
from cwm.sandbox.wire.api import Level

BY_RECORDING: Final[dict[str, str]] = json.loads(
    resources.files(__package__).joinpath("shipped_models.json").read_text(encoding="ascii")
)
"""SHA-256 of the model that each recording leads to, see `ModelBundle.hash`, by the recording's name."""
MODELS: Final = frozenset(BY_RECORDING.values())


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
    if not is_strong(level) and set(models) <= MODELS:
        return lowered()
    levels.ensure(level)
    return level


def is_strong(level: Level) -> bool:
    """Returns whether a level holds against hostile programs here, or says itself that it needs no probe."""
    return level not in levels.STRONG or levels.probe(level).problem is None


def lowered() -> Level:
    """Returns level `process`, and says that and why."""
    console.notices.print(
        "no sandbox that holds against hostile programs is to be had here; these programs ship with the project and "
        "run at level process (`cwm doctor` says more)"
    )
    return "process"
