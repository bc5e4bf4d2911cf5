"""`cwm faster`: ask for faster versions of a finished run's model, and keep one only if it is right and faster."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.finishing import finish
from arena.pipeline import speed
from arena.pipeline.speed import SpeedAsked
from arena.runs import inputs, language_model, shipped
from arena.runs.folder import INPUTS, KIND, read_caps, write_caps
from arena.runs.settings import RunSettings
from arena.terminal.options import (
    NO_CAPS,
    AsJson,
    BaseUrl,
    ModelSpec,
    Record,
    Workers,
    takes_caps,
)
from arena.usage import UsageError
from cwm.llm.caps import Caps
from cwm.record.record import RunRecord
from cwm.speed.task import SpeedConfig


@takes_caps
def command(
    run: Annotated[Path, typer.Argument(help="Folder of a run of `cwm synthesize`.")],
    candidates: Annotated[int, typer.Option("--candidates", min=1, help="Versions asked for, one call each.")] = 1,
    llm: ModelSpec = None,
    base_url: BaseUrl = None,
    record: Record = None,
    caps: Caps = NO_CAPS,
    workers: Workers = 2,
    as_json: AsJson = False,
) -> None:
    """Ask for faster versions of a run's model, profiled under the planner; keep one if it is right and faster."""
    with RunRecord.open(run) as opened:
        if opened.info.kind != KIND:
            raise UsageError(
                f"{run} holds a run of kind {opened.info.kind!r}; only runs of kind {KIND!r} have a model."
            )
        settings = RunSettings.from_record(opened.info.config)
        if settings.matches is not None:
            raise UsageError(f"The matches in {run} are of the model as it is; make another with `cwm synthesize`.")
        if settings.joint:
            raise UsageError(f"The model in {run} has a joint step; faster versions are for models in turns.")
        caps = read_caps(run).raised(caps)
        asked = SpeedAsked(SpeedConfig(num_candidates=candidates, seed=settings.seed), llm, base_url)
        written_by = settings if llm is None else replace(settings, llm=llm, base_url=base_url)
        language_model.check(settings, caps)
        language_model.check(written_by, caps)
        shipped.check(written_by)
        speed.ask(run, asked)
        write_caps(run, caps)
        finish(opened, settings, inputs.load(run / INPUTS, settings), caps, workers, record, as_json)
