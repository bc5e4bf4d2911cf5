"""Scaffolds: how a language model is shown a game, and how it is to answer.

A game's own lie in the package `scaffolds` of its folder: `SCAFFOLDS`, by name, and its templates (`NAME.j2`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from games.api import Json, ObsActionHistory

Values: TypeAlias = Callable[[int, ObsActionHistory], Mapping[str, Any]]
"""Returns what templates are given of a decision: of a player's seat and its own decision points, the last one open."""
Slot: TypeAlias = tuple[int, int, str, str]
"""Player, card of its hand from 0, colours and ranks that it may have."""
Deduced: TypeAlias = Callable[[Json, ObsActionHistory], tuple[list[Slot], list[str]]]
"""Reads what a model deduced at its last decision point.

Returns what could be read, and a short reason for each part that could not."""


@dataclass(frozen=True)
class Role:
    """One of those who report on a decision before the last one asked decides.

    Attributes:
        name: of the role.
        template: its own words, after the situation; None for none.
        moves: whether it is then asked for a move as the scaffold asks.
        least_players: a game of fewer players does without it.
    """

    name: str
    template: str | None = None
    moves: bool = False
    least_players: int = 2


@dataclass(frozen=True)
class Scaffold:
    """What a language model is shown, asked for and told of its own earlier turns.

    Attributes:
        name: as agents name it.
        brief: template of what is the same at every turn: rules and advice.
        state: template of the situation now; with the legal moves it is what a memory holds.
        values: what both templates are given.
        view: which of the game's views is shown; None for any.
        system: template of a system message; None for none.
        labels: whether the answer is labelled text instead of JSON.
        ratings: whether every legal move is to be rated.
        deduction: template that says how deductions are written; None if none are asked for.
        words: how many words a reason may have, None for any number.
        deduced: reads deductions.
        memory: own turns before this one that are shown with their answers.
        roles: of a mixture, the last one asked not among them.
    """

    name: str
    brief: str
    state: str
    values: Values
    view: str | None = None
    system: str | None = None
    labels: bool = False
    ratings: bool = True
    deduction: str | None = None
    words: int | None = None
    deduced: Deduced | None = None
    memory: int = 0
    roles: tuple[Role, ...] = ()
