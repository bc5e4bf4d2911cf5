"""`cwm resume`: goes on with a run, a tournament or an evaluation where it broke off."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from arena.commands import evaluate as evaluate_command
from arena.commands import several
from arena.commands import tournament as tournament_command
from arena.commands.finishing import finish, stored_end
from arena.evaluation import evaluation_run
from arena.papers.cwm.tables import settings as paper_settings
from arena.pipeline import several as several_syntheses
from arena.pipeline import speed
from arena.runs import inputs as run_inputs
from arena.runs import language_model, shipped
from arena.runs.folder import INPUTS, KIND, read_caps, write_caps
from arena.runs.settings import RunSettings
from arena.terminal.options import NO_CAPS, AsJson, Record, Workers, takes_caps
from arena.usage import UsageError
from arena.yardstick import tasks
from cwm.llm.caps import Caps
from cwm.record.record import RunRecord


@takes_caps
def command(
    run: Annotated[Path, typer.Argument(help="Folder of a run, of a tournament, or of an evaluation.")],
    base_url: Annotated[
        str | None,
        typer.Option("--base-url", help="Ask the language model at this address, not at the one it was begun with."),
    ] = None,
    record: Record = None,
    caps: Caps = NO_CAPS,
    workers: Workers = 2,
    as_json: AsJson = False,
) -> None:
    """Go on with a run after a kill, or with higher caps: no call and no game is repeated."""
    caps = replace(caps, line=replace(caps.line, base_url=base_url))
    if (run / tournament_command.CONFIG_FILE).exists():
        tournament_command.resume(run, workers, as_json, caps, record)
        return
    if (run / evaluation_run.ASKED_FILE).exists():
        if caps != NO_CAPS or record is not None:
            raise UsageError(
                f"{run} holds an evaluation, which makes no calls: leave out caps, prices, --base-url and --record."
            )
        evaluate_command.resume(run, workers, as_json)
        return
    if (run / paper_settings.ASKED_FILE).exists():
        raise UsageError(f"{run} holds tables of the CWM paper; `cwm paper --run {run}` goes on with them.")
    with RunRecord.open(run) as opened:
        if opened.info.kind == several_syntheses.KIND:
            several.resume(opened, caps, workers, record, as_json)
            return
        if opened.info.kind == tasks.KIND:
            raise tasks.no_single_run(run)
        if opened.info.kind != KIND:
            raise UsageError(f"{run} holds a run of kind {opened.info.kind!r}; only runs of kind {KIND!r} are resumed.")
        settings = RunSettings.from_record(opened.info.config)
        caps = read_caps(run).raised(caps)
        if stored_end(run, settings) is None or record is not None:
            _check_one_server(run, settings, base_url)
            language_model.check(settings, caps)
            shipped.check(settings)
        write_caps(run, caps)
        finish(opened, settings, run_inputs.load(run / INPUTS, settings), caps, workers, record, as_json)


def _check_one_server(run: Path, settings: RunSettings, base_url: str | None) -> None:
    asked = speed.asked_of(run, settings)
    if base_url is not None and asked is not None and asked.llm not in (None, settings.llm):
        raise UsageError(
            f"{run} asks two language models, {settings.llm} and {asked.llm}: leave out --base-url, and give "
            f"`cwm faster {run} --llm {asked.llm} --base-url ADDRESS` again."
        )
