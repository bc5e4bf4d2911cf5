"""The recorded games that a model's unit tests are made from."""

from dataclasses import replace
from pathlib import Path

from arena import run_inputs
from arena.run_inputs import Inputs
from arena.run_settings import RunSettings
from arena.synthesis_run import INPUTS, KIND
from arena.true_game import true_game
from arena.usage import UsageError
from cwm.model.bundle import ModelBundle
from cwm.record.record import RUN_FILE, RunRecord
from cwm.trajectories import files

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
        return Inputs("", bundle.game_info, bundle.initial_state, tuple(games), (), game)
    if (model / RUN_FILE).exists():
        with RunRecord.read(model) as record:
            if record.info.kind == KIND:
                return run_inputs.load(model / INPUTS, RunSettings.from_record(record.info.config))
    if game is None:
        raise UsageError(
            f"{model} is no run and {bundle.game_info.id} is no registered game, so the games that the model was made "
            "from are not known; give them with --trajectories FILE."
        )
    return replace(run_inputs.registered(bundle.game_info.id, GAMES, SEED), game=game)
