"""What files of `cwm export` import, and all of ours that they import.

A promise: `register` keeps its name, its arguments and what it does, so that a file that a user keeps goes on working
when the packages inside change. Files of version 0.1.0 that were exported before this module was there name modules
that have moved: export them again.
"""

import json
from dataclasses import asdict

import pyspiel

from cwm.model.bundle import ModelBundle
from cwm.model.world_model import WorldModel
from cwm.sandbox.inside.program import LoadedCode
from cwm.sandbox.parent.host import Sandbox
from games.adapters import spiel_game
from games.api import Action


def register(
    model: str, short_name: str, actions: list[Action], chance_actions: list[Action], *, in_process: bool = False
) -> pyspiel.Game:
    """Registers a model as an OpenSpiel game and returns it.

    Args:
        model: the fields of a `ModelBundle`, as JSON.
        short_name: name for `pyspiel.load_game`.
        actions: of the players; an action's place in the list is its number.
        chance_actions: outcomes of chance, likewise.
        in_process: run the program in this process, contained by nothing, instead of a worker.
    """
    bundle = ModelBundle(**json.loads(model))
    factory = LoadedCode(asdict(bundle.program())).instantiate if in_process else lambda: WorldModel(bundle, Sandbox())
    name = f"code world model of {bundle.info['id']}"
    return spiel_game.register(
        factory, short_name, long_name=name, all_actions=actions, all_chance_actions=chance_actions
    )
