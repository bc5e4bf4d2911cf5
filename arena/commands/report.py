"""`cwm report`: rebuild the page and the tables of a run from its record."""

from pathlib import Path
from typing import Annotated

import typer

from arena.commands import several
from arena.commands.finishing import write_stored_report
from arena.matches import store
from arena.matches.verification import verify_games
from arena.pages import tournament_page
from arena.pipeline import several as several_syntheses
from arena.report import tables
from arena.runs import folder
from arena.runs.folder import KIND
from arena.runs.settings import RunSettings
from arena.terminal import console
from arena.terminal.options import AsJson
from arena.usage import UsageError
from arena.yardstick import tasks
from cwm.record.record import RUN_FILE, RunRecord
from cwm.storage import lock


def command(
    run: Annotated[Path, typer.Argument(help="Folder of a run, or of a tournament (`cwm arena --run`).")],
    as_json: AsJson = False,
) -> None:
    """Rebuild report.html and print the tables, also of a run that goes on; nothing is asked, played or tested."""
    if (run / store.FILE_NAME).exists() and not (run / RUN_FILE).exists():
        _tournament(run, as_json)
        return
    with RunRecord.read(run) as record:
        if record.info.kind in (several.KIND, several_syntheses.KIND):
            several.report(record, as_json)
            return
        if record.info.kind == tasks.KIND:
            raise tasks.no_single_run(run)
        if record.info.kind != KIND:
            raise UsageError(f"{run} holds a run of kind {record.info.kind!r}, which has no report.")
        settings = RunSettings.from_record(record.info.config)
        at_work = lock.holder(run)
        if at_work is not None:
            console.notices.print(f"process {at_work} is at work on {run}: this is what it has finished so far")
        if as_json:
            console.print_json(folder.read_result(run) | {"settings": settings.to_json()})
            return
        report = write_stored_report(record, settings)
    console.out.print(tables.report(report))
    console.notices.print(f"report: {record.report_path}")


def _tournament(folder: Path, as_json: bool) -> None:
    games = verify_games(folder)
    if as_json:
        console.print_json({"config": games.config.to_json(), "standings": games.result.table.to_json()})
        return
    found = tournament_page.read(folder, games)
    told = tournament_page.write(folder, found)
    if found.arena.table.games:
        for table in tables.arena_tables(found.arena):
            console.out.print(table)
    console.notices.print(told)
