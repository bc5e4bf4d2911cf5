"""What files of `cwm export` import, and all of ours that they import.

A promise: `register` keeps its name, its arguments and what it does, so that a file that a user keeps goes on working
when the packages inside change. Files of version 0.1.0 that were exported before this module was there name modules
that have moved: export them again.
"""

import json
from dataclasses import asdict
from typing import Any

import pyspiel

import cwm

cwm.put_ours_first()

from cwm.model.bundle import ModelBundle
from cwm.model.world_model import WorldModel
from cwm.observations.vectors import ObservationVectors
from cwm.sandbox.inside.program import LoadedCode
from cwm.sandbox.parent.host import Sandbox
from games.adapters import spiel_game
from games.api import Action, Game, State


def register(
    model: str,
    short_name: str,
    actions: list[Action],
    chance_actions: list[Action],
    *,
    observations: str | None = None,
    in_process: bool = False,
) -> pyspiel.Game:
    """Registers a model as an OpenSpiel game and returns it.

    Args:
        model: the fields of a `ModelBundle`, as JSON.
        short_name: name for `pyspiel.load_game`.
        actions: of the players; an action's place in the list is its number.
        chance_actions: outcomes of chance, likewise.
        observations: schema by which an observation becomes its tensor, as JSON; None for no tensors.
        in_process: run the program in this process, contained by nothing, instead of a worker.
    """
    bundle = ModelBundle(**json.loads(model))
    load = LoadedCode(asdict(bundle.program())).instantiate if in_process else lambda: WorldModel(bundle, Sandbox())
    vectors = None if observations is None else ObservationVectors.from_json(json.loads(observations))

    def factory() -> Game:
        game = load()
        if vectors is not None:
            _observe(game, vectors)
        return game

    name = f"code world model of {bundle.info['id']}"
    return spiel_game.register(
        factory, short_name, long_name=name, all_actions=actions, all_chance_actions=chance_actions
    )


def _observe(game: Any, vectors: ObservationVectors) -> None:
    """Gives a game the methods of `games.adapters.spiel_game.ObservesTensor`."""

    def observation_tensor(state: State, player: int) -> list[float]:
        return vectors.encode(game.observations(state)[player])

    game.observation_shape = lambda: (vectors.width,)
    game.observation_tensor = observation_tensor
