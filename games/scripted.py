"""Players who know a game, and games as they are recorded: what is learnt from is neither too long nor too poor."""

import importlib
import importlib.util
import random
from collections.abc import Callable, Mapping
from typing import TypeAlias

from games import registry
from games.api import Action, Game, ObsActionHistory, State

Scripted: TypeAlias = Callable[[Game, State, ObsActionHistory, int, random.Random], Action]
"""Chooses an action of a player from what it knows; the state is there for those that are allowed to look."""


def scripted(game_id: str) -> Mapping[str, Scripted]:
    """Returns the scripted policies that ship in the game's folder (`policy.POLICIES`), {} if it has none."""
    package = registry.describe(game_id).package
    if not package or importlib.util.find_spec(f"{package}.policy") is None:
        return {}
    found: Mapping[str, Scripted] = importlib.import_module(f"{package}.policy").POLICIES
    return found


def recorded(game_id: str) -> Game:
    """Returns a game as it is recorded: broken off earlier where whole games would be too long.

    Raises:
        GameError: there is no such game.
    """
    return registry.make(game_id, **registry.describe(game_id).recorded)
