"""What other installed distributions bring: entry points, looked up when a name is none of ours, loaded when used."""

import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from games.api import GameError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GAMES: Final = "games"
AGENTS: Final = "agents"
PROVIDERS: Final = "providers"
"""What may be brought; the group of its entry points has `cwm.` before it."""


class PluginError(GameError):
    """What a distribution brings cannot be used; the message names the distribution."""


def names(what: str) -> list[str]:
    """Returns the names that distributions give to what they bring, in order."""
    return sorted({entry.name for entry in _entries(what, tuple(sys.path))})


def load(what: str, name: str) -> Any:
    """Returns what a distribution brings under a name.

    Raises:
        PluginError: it cannot be imported, or two distributions bring this name.
    """
    entries = [entry for entry in _entries(what, tuple(sys.path)) if entry.name == name]
    if len({entry.value for entry in entries}) != 1:
        brought = " and ".join(sorted(origin(entry) for entry in entries)) or "no distribution"
        raise PluginError(f"{brought} bring {name!r} in cwm.{what}: uninstall all but one.")
    try:
        return entries[0].load()
    except (Exception, SystemExit) as error:
        raise PluginError(
            f"{name!r} of the distribution {origin(entries[0])} cannot be loaded ({type(error).__name__}: {error}): "
            "mend or uninstall it."
        ) from error


def brought_by(what: str, name: str) -> str:
    """Returns name and version of the distribution that brings a name."""
    return next((origin(entry) for entry in _entries(what, tuple(sys.path)) if entry.name == name), "nobody")


def origin(entry: "EntryPoint") -> str:
    """Returns name and version of the distribution of an entry point."""
    return "that is not named" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"


@lru_cache(maxsize=16)
def _entries(what: str, path: Sequence[str]) -> "tuple[EntryPoint, ...]":
    """Returns the entry points of one kind, read once for each search path."""
    # Not when this module is loaded: most commands name nothing that is not ours.
    from importlib.metadata import entry_points

    return tuple(entry_points(group=f"cwm.{what}"))
