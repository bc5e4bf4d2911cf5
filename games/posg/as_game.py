"""Registered games of simultaneous moves as games of the arena, with their rules told as such."""

import importlib
from importlib import resources
from typing import Any, Final

from games.posg import registry
from games.posg.histories import ResampledPosg
from games.posg.serialised import SerialisedPosg

TURNS: Final = "TURNS.md"
"""How simultaneous moves are played one after the other: the end of the rules text of every such game."""


def make(game: str, **params: Any) -> SerialisedPosg:
    """Builds a registered game of simultaneous moves as a `Game`.

    Args:
        game: its id.
        **params: what its factory takes.

    Raises:
        GameError: no game has this id, or it takes no such parameter.
    """
    entry = registry.entry_of(game)
    built = ResampledPosg if entry.exact else SerialisedPosg
    return built(registry.make(game, **params), entry.has_chance or bool(params))


def rules(game: str) -> str:
    """Returns the specification of a game, with that of its turns."""
    turns = resources.files(__package__).joinpath(TURNS).read_text(encoding="utf-8")
    return f"{told(game).rstrip()}\n\n{turns}"


def told(game: str) -> str:
    """Returns the specification of a game as such."""
    return _text(game, "RULES.md", False)


def book(game: str) -> str:
    """Returns the rules of a game as they are told to people."""
    return _text(game, "RULEBOOK.md", True)


def _text(game: str, file: str, to_people: bool) -> str:
    """Returns a file of a game's folder, with what holds for this game alone at its end."""
    entry = registry.entry_of(game)
    text = resources.files(entry.package).joinpath(file).read_text(encoding="utf-8")
    if not entry.particulars:
        return text
    module, attribute = entry.particulars.split(":")
    end = getattr(importlib.import_module(module), attribute)(to_people=to_people, **entry.params)
    return f"{text.rstrip()}\n\n{end}\n"
