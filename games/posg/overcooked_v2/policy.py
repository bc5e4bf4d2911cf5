"""Scripted players for recorded games: random chefs hardly ever fill a pot, and never see what follows."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Final, TypeAlias

from games.api import Action, Game, ObsActionHistory, State
from games.posg.overcooked_v2 import model as kitchens
from games.posg.overcooked_v2.model import OvercookedV2
from games.posg.overcooked_v2.partners import Chef, ChefsMind
from games.posg.overcooked_v2.sight import Seen
from games.posg.policies import PosgPolicy, UniformPolicy, at_the_table

Player: TypeAlias = Callable[[Game, State, ObsActionHistory, int, random.Random], Action]


class SetChef(Chef):
    """A chef that cooks and delivers the first recipe of its kitchen, whatever is asked for."""

    def __init__(self, model: OvercookedV2, role: str) -> None:
        super().__init__(model, role)
        self._house = replace(model.house, wrong=False)

    def start(self, agent: int) -> ChefsMind:
        return super().start(agent)._replace(recipe=self._kitchen.recipes[0])

    def update(self, memory: ChefsMind, action: Action | None, observation: Seen) -> ChefsMind:
        return super().update(memory, action, observation)._replace(recipe=self._kitchen.recipes[0])


def _told(model: OvercookedV2) -> Sequence[PosgPolicy]:
    return Chef(model, "cook"), Chef(model, "server")


def _set(model: OvercookedV2) -> Sequence[PosgPolicy]:
    return SetChef(model, "chef"), SetChef(model, "chef")


def _hindered(model: OvercookedV2) -> Sequence[PosgPolicy]:
    return Chef(model, "chef"), UniformPolicy(model.info.actions[0])


def _players(table: Callable[[OvercookedV2], Sequence[PosgPolicy]], seats: Sequence[int] = (0, 1)) -> Player:
    """Returns chefs that take the seats of a table: by agent, which of the two chefs sits there."""

    @cache
    def seated(game_id: str, agent: int) -> Callable[[ObsActionHistory, Sequence[Action], random.Random], Action]:
        model = kitchens.make(game_id)
        return at_the_table(table(model)[seats[agent]], model.observation_from_json)

    def play(game: Game, state: State, history: ObsActionHistory, player: int, rng: random.Random) -> Action:
        return seated(game.info.id, player)(history, game.legal_actions(state), rng)

    return play


POLICIES: Final[Mapping[str, Player]] = {
    "a cook and a server": _players(_told),
    "a server and a cook": _players(_told, (1, 0)),
    "one recipe, whatever is asked for": _players(_set),
    "the first with a random chef": _players(_hindered),
    "the second with a random chef": _players(_hindered, (1, 0)),
}
"""By name; each takes every seat of a game. Single-chef kitchens use the first alone."""
