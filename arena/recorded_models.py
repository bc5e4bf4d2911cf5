"""Models made from the recordings that ship with the project: replayed, tested, and kept in the user's cache."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from arena import console, run_inputs, shipped
from arena.agent_specs import AgentSpec
from arena.errors import UsageError
from arena.run_settings import Caps, standard_settings
from arena.synthesis_run import MODEL, SynthesisRun, open_record
from cwm.llm import recordings
from cwm.model_bundle import ModelBundle, ModelBundleError
from cwm.record import content_key

RECORDED = "recorded"
"""Names the recorded model in an agent, `cwm:recorded`; a folder of that name is `cwm:./recorded`."""
SEED = 0
"""The recordings were made with this seed."""


def cache_folder() -> Path:
    """Returns where replayed models are kept: `$XDG_CACHE_HOME/cwm` or `~/.cache/cwm`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cwm"


def folder_of(game: str) -> Path:
    """Returns the folder of the replayed run of a game, made from the recording unless it is there already.

    Raises:
        UsageError: no recording ships for the game, or it did not lead to a model.
    """
    if game not in recordings.bundled_names():
        raise UsageError(f"No recorded completions ship for {game}; known: {', '.join(recordings.bundled_names())}.")
    settings = shipped.settings_for(standard_settings(game, None, None, SEED))
    lines = [record.line() for record in recordings.load(game).records]
    key = content_key([lines, settings.to_json()])[:16]
    folder = cache_folder() / f"{game}-{key}"
    try:
        ModelBundle.load(folder)
    except ModelBundleError:
        console.notices.print(f"replaying the recording of {game}, once; the model is kept in {folder}")
        inputs = run_inputs.registered(game, settings.train_games, SEED)
        with open_record(folder, settings, inputs, Caps()) as record:
            outcome = SynthesisRun(record, settings, inputs, Caps(), on_stage=console.notices.print).model()
        if outcome.bundle is None:
            raise UsageError(f"The recording of {game} leads to no model.") from None
    return folder


def filled_in(specs: Sequence[AgentSpec], game: str) -> list[AgentSpec]:
    """Returns agents with the recorded model's folder in the place of `cwm:recorded`; their names stay.

    Raises:
        UsageError: an agent wants the recorded model of a game for which no recording ships.
    """
    wanted = [spec.kind == "cwm" and spec.model == RECORDED for spec in specs]
    model = str(folder_of(game) / MODEL) if any(wanted) else None
    return [replace(spec, model=model) if recorded else spec for spec, recorded in zip(specs, wanted, strict=True)]
