"""Twins from the recordings that ship with the project: replayed beside a recorded model, proved, and kept there."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from arena.pipeline.twin import TwinStep
from arena.runs import inputs as run_inputs
from arena.runs import language_model, shipped
from arena.runs.folder import INPUTS, MODEL
from arena.runs.replayed import with_twin
from arena.runs.settings import RunSettings
from arena.runs.stage import Stage
from arena.terminal import console
from arena.usage import UsageError
from cwm.llm.caps import Caps, budget
from cwm.model.bundle import ModelBundle
from cwm.record.record import RUN_FILE, RunRecord
from cwm.twins.stored import StoredTwin, StoredTwinError, has_twin
from cwm.twins.task import TwinConfig

TRANSITIONS: Final = 20_000
"""That the proof compares on this machine: seconds. `cwm twin RUN` compares a million."""


def add(run: Path, on_stage: Callable[[str], None] = console.notices.print) -> bool:
    """Puts the twin that ships with a recording beside the model that was replayed from it, unless it is there.

    Args:
        run: folder of the replayed run, as `recorded_models.folder_of` returns it.
        on_stage: told in words what begins.

    Returns:
        Whether there is one now; False where none ships.

    Raises:
        UsageError: what ships is not proved equal to the model here.
        RunLockedError: another process works in the folder.
        TwinProblemError: the twin cannot be compared here.
        SandboxUnavailableError: no worker can be started.
    """
    bundle = ModelBundle.load(run)
    if not (run / RUN_FILE).exists():
        # A model alone tells of no recording.
        return has_twin(run / MODEL)
    if _is_there(run, bundle):
        return True
    with RunRecord.open(run) as record:
        settings = RunSettings.from_record(record.info.config)
        written_by = with_twin(settings)
        if written_by.llm == settings.llm:
            return False
        shipped.check(written_by)
        on_stage(f"replaying the twin of {bundle.info['id']} that ships, once, and comparing it with its model")
        asked = language_model.compose(written_by, Caps(), record, budget(Caps()), None)
        stage = Stage(record, settings, run_inputs.load(run / INPUTS, settings), on_stage=on_stage)
        config = TwinConfig(transitions=TRANSITIONS, seed=settings.seed, temperature=settings.temperature)
        result = TwinStep(stage, bundle, asked, config).run()
    if not result.proved:
        raise UsageError(
            f"The twin that ships for {bundle.info['id']} is not proved equal to its model here ({result.message}): "
            f"make one with `cwm twin {run} --llm PROVIDER:MODEL`, or name a run that has one."
        )
    return True


def _is_there(run: Path, bundle: ModelBundle) -> bool:
    try:
        return StoredTwin.load(run / MODEL).model == bundle.hash
    except StoredTwinError:
        # There is none, or it is one that another version of ours wrote.
        return False
