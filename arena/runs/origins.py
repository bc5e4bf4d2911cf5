"""The registered game that a model is a model of."""

from dataclasses import replace
from pathlib import Path

from arena.runs import inputs
from arena.runs.folder import INPUTS, KIND
from arena.runs.inputs import Inputs, is_simultaneous
from arena.runs.settings import RunSettings
from arena.usage import UsageError
from cwm.model.bundle import ModelBundle, describe
from cwm.record.record import RUN_FILE, RunRecord
from cwm.trajectories import files
from games import registry
from games.api import Game, state_to_json


def true_game(bundle: ModelBundle) -> Game | None:
    """Returns the registered game of a model, None if there is none.

    A user's own game may bear a registered one's name, and starts otherwise.
    """
    info = bundle.game_info
    if not registry.knows(info.id):
        return None
    if bundle.joint:
        game = registry.make(info.id)
        same = is_simultaneous(game) and describe(game.info, game.model.info) == bundle.info
        return game if same else None
    # A model of the closed deck may have been told nothing of states, not even of the first.
    untold = bundle.deck == "closed" and bundle.initial_state == {}
    for params in ({}, registry.describe(info.id).drawn):
        game = registry.make(info.id, **params)
        same = untold or state_to_json(game, game.initial_state()) == bundle.initial_state
        if same and game.info.num_players == info.num_players:
            return game
    return None


def of_game(bundle: ModelBundle) -> Inputs:
    """Returns what is known of the game of a model: without rules text and recorded games."""
    game = true_game(bundle)
    joint = game.model if bundle.joint and game is not None and is_simultaneous(game) else None
    joint_info = bundle.joint_info if bundle.joint else None
    return Inputs("", bundle.game_info, bundle.initial_state, (), (), game, joint=joint, joint_info=joint_info)


GAMES = 5
SEED = 0
"""A model outside of a run is taken to be made from the games that a synthesis records unless told otherwise."""


def of_model(model: Path, bundle: ModelBundle, trajectories: Path | None = None) -> Inputs:
    """Returns what a model was made from.

    Args:
        model: folder of a run, or of a model.
        bundle: the model.
        trajectories: played games that stand in for the run's; None: those of the run, or, for a model alone, those
            that a synthesis of its registered game starts from.

    Raises:
        UsageError: there are no such games.
        RunRecordError: the run's record is damaged.
    """
    game = true_game(bundle)
    if trajectories is not None:
        games = files.read(trajectories, bundle.deck)
        return replace(of_game(bundle), train=tuple(games))
    if (model / RUN_FILE).exists():
        with RunRecord.read(model) as record:
            if record.info.kind == KIND:
                return inputs.load(model / INPUTS, RunSettings.from_record(record.info.config))
    if game is None:
        raise UsageError(
            f"{model} is no run and {bundle.game_info.id} is no registered game, so the games that the model was made "
            "from are not known; give them by the option `trajectories`."
        )
    return replace(inputs.registered(bundle.game_info.id, GAMES, SEED, joint=bundle.joint), game=game)
