"""Players of several characters that ship with a game: yardsticks, and strangers for other agents to meet."""

import importlib
import importlib.util
import random
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from arena.agents.api import Move, Needs, Turn
from games import registry
from games.api import DEFAULT_VIEW, Action, GameInfo, ObsActionHistory, UnknownGameError

Partner: TypeAlias = Callable[[ObsActionHistory, Sequence[Action], random.Random], Action]
"""Chooses one of the legal actions, given its own decision points in the default view (the last action None)."""


def partners(game_id: str) -> Mapping[str, Partner]:
    """Returns the partners that ship in the game's folder (`partners.PARTNERS`), {} if it has none.

    Where `partners.ONLY` names the games of a partner, it plays no other of the folder's; `partners.partners_of` gives
    partners that differ from game to game.
    """
    try:
        package = registry.describe(game_id).package
    except UnknownGameError:  # a synthesised model of a user's own game
        return {}
    if not package or importlib.util.find_spec(f"{package}.partners") is None:
        return {}
    module = importlib.import_module(f"{package}.partners")
    if hasattr(module, "partners_of"):
        own: Mapping[str, Partner] = module.partners_of(game_id)
        return own
    found: Mapping[str, Partner] = module.PARTNERS
    only: Mapping[str, Sequence[str]] = getattr(module, "ONLY", {})
    return {name: partner for name, partner in found.items() if game_id in only.get(name, (game_id,))}


class PartnerAgent:
    """A partner at the table; it is told what any agent is told."""

    needs = Needs(legal_actions=True)

    def __init__(self, partner: Partner, name: str, view: str = DEFAULT_VIEW) -> None:
        self.name = name
        self.view = view
        self._partner = partner

    def start(self, info: GameInfo, seat: int, seed: int) -> None:
        pass

    def act(self, turn: Turn) -> Move:
        return Move(self._partner(turn.history, turn.legal_actions, random.Random(turn.seed)))

    def close(self) -> None:
        pass
