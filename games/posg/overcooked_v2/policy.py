"""Scripted players for recorded games: random chefs hardly ever fill a pot, and never see what follows."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final, TypeAlias

from games.api import Action, Game, ObsActionHistory, Observation, State
from games.posg.overcooked_v2 import model as kitchens
from games.posg.overcooked_v2.model import OvercookedV2
from games.posg.overcooked_v2.partners import Chef, ChefsMind
from games.posg.overcooked_v2.sight import Seen
from games.posg.policies import PosgPolicy, UniformPolicy

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


class _Seated:
    """A chef at the table, who remembers a game from one decision to the next; what it decides is what one decides who
    is told the whole history anew."""

    def __init__(self, chef: PosgPolicy, model: OvercookedV2) -> None:
        self._chef, self._model = chef, model
        self._told: list[Observation] = []
        self._memory: Any = None

    def act(self, history: ObsActionHistory, agent: int, rng: random.Random) -> Action:
        """Returns an action at the end of a history."""
        known = len(self._told)
        # The very objects: those of another game may look alike.
        if not known or known > len(history) or any(a is not b[0] for a, b in zip(self._told, history, strict=False)):
            self._told, self._memory, known = [], self._chef.start(agent), 0
        action = history[known - 1][1] if known else None
        for shown, acted in history[known:]:
            for told in (*shown.get("missed", ()), shown["seen"]):
                seen = self._model.observation_from_json(agent, told)
                self._memory, action = self._chef.update(self._memory, action, seen), None
            action = acted
            self._told.append(shown)
        return self._chef.act(self._memory, rng)


def _told(model: OvercookedV2) -> Sequence[PosgPolicy]:
    return Chef(model, "cook"), Chef(model, "server")


def _set(model: OvercookedV2) -> Sequence[PosgPolicy]:
    return SetChef(model, "chef"), SetChef(model, "chef")


def _hindered(model: OvercookedV2) -> Sequence[PosgPolicy]:
    return Chef(model, "chef"), UniformPolicy(model.info.actions[0])


def _players(table: Callable[[OvercookedV2], Sequence[PosgPolicy]], seats: Sequence[int] = (0, 1)) -> Player:
    """Returns chefs that take the seats of a table: by agent, which of the two chefs sits there."""

    @cache
    def seated(game_id: str, agent: int) -> _Seated:
        model = kitchens.make(game_id)
        return _Seated(table(model)[seats[agent]], model)

    def play(game: Game, state: State, history: ObsActionHistory, player: int, rng: random.Random) -> Action:
        return seated(game.info.id, player).act(history, player, rng)

    return play


POLICIES: Final[Mapping[str, Player]] = {
    "a cook and a server": _players(_told),
    "a server and a cook": _players(_told, (1, 0)),
    "one recipe, whatever is asked for": _players(_set),
    "the first with a random chef": _players(_hindered),
    "the second with a random chef": _players(_hindered, (1, 0)),
}
"""By name; each takes every seat of a game. Single-chef kitchens use the first alone."""
