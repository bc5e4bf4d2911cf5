"""What a synthesis ends with: all stages with a live view, the report, the tables, and the exit code."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import typer

from arena.commands.exit_codes import EXIT_NEGATIVE, EXIT_PROVIDER
from arena.matches.tournament import Progress
from arena.pipeline.synthesis import Outcome, SynthesisRun, stored_matches
from arena.report import arena_view, page, run_report, run_tables, tables
from arena.report.data import ReportData
from arena.runs import inputs as run_inputs
from arena.runs.folder import INPUTS, read_bundle, read_result
from arena.runs.inputs import Inputs
from arena.runs.settings import RunSettings
from arena.terminal import console
from arena.terminal.live_view import LiveView
from cwm.functions.vectors import VectorResult
from cwm.llm.caps import Caps
from cwm.record.record import RunRecord


@dataclass(frozen=True)
class Finished:
    """A run all of whose stages are done.

    Attributes:
        outcome: what it came to.
        report: what its page shows.
        cap: the cap that ended its calls, None if none did.
    """

    outcome: Outcome
    report: ReportData
    cap: str | None


def complete(
    record: RunRecord, settings: RunSettings, inputs: Inputs, caps: Caps, workers: int, recording: Path | None
) -> Finished:
    """Runs all stages with a live view and writes the report; prints no table."""
    try:
        with LiveView(console.notices) as live:
            run = SynthesisRun(record, settings, inputs, caps, workers, recording, live, live.stage)
            return run_stages(run, lambda state: live.progress("arena: game", state.done, state.total), live.stage)
    except BaseException:
        console.notices.print(f"what was finished is kept in {record.folder}; `cwm resume {record.folder}` goes on")
        raise


def run_stages(
    run: SynthesisRun, on_game: Callable[[Progress], None] | None, on_stage: Callable[[str], None]
) -> Finished:
    """Runs all stages of a synthesis and writes the report; shows nothing by itself."""
    record, settings = run.record, run.settings
    outcome = run.run()
    run_report.write_result(record.folder, outcome)
    matches = run.matches(outcome, on_game)
    outcome = run.online(outcome, matches)
    run_report.write_result(record.folder, outcome)
    on_stage("writing the report")
    shown = arena_view.of(run.inputs.game, matches)
    report = run_report.build(record, settings, shown.arenas, shown.replays)
    page.write(report, record.report_path)
    run_tables.write(record, report)
    return Finished(outcome, report, outcome.cap_reached(settings))


def stored_report(record: RunRecord, settings: RunSettings) -> ReportData:
    """Returns the report of what a run has finished so far; nothing is asked, played or tested."""
    inputs = run_inputs.load(record.folder / INPUTS, settings)
    matches = stored_matches(record.folder, settings, inputs, read_bundle(record.folder))
    shown = arena_view.of(inputs.game, matches)
    return run_report.build(record, settings, shown.arenas, shown.replays)


def finish(
    record: RunRecord,
    settings: RunSettings,
    inputs: Inputs,
    caps: Caps,
    workers: int,
    recording: Path | None,
    as_json: bool,
) -> None:
    """Runs all stages with a live view, writes the report and prints the tables.

    Raises:
        typer.Exit: a cap is reached, the model is not exact on the training tests, or it got no vectors of observations
            though they were asked for.
    """
    done = complete(record, settings, inputs, caps, workers, recording)
    if as_json:
        message = done.cap or done.outcome.synthesis.message
        about = {"run": str(record.folder), "sandbox": settings.level, "message": message}
        console.print_json(read_result(record.folder) | about)
    else:
        console.out.print(tables.report(done.report))
    console.notices.print(f"run: {record.folder}   report: {record.report_path}")
    leave(record.folder, done.cap, done.outcome.exact)
    vectors = done.outcome.beside.chosen.get("vectors")
    if isinstance(vectors, VectorResult) and vectors.chosen is None:
        console.notices.print(f"the model has no vectors of observations: {vectors.message}", markup=False)
        raise typer.Exit(EXIT_NEGATIVE)


def leave(folder: Path, cap: str | None, exact: bool) -> None:
    """Ends the command with what its result is worth.

    Raises:
        typer.Exit: a cap is reached, or the model is not exact on the training tests.
    """
    if cap is not None:
        console.notices.print(f"a cap is reached ({cap}); `cwm resume {folder} --max-…` goes on with a higher one")
        raise typer.Exit(EXIT_PROVIDER)
    if not exact:
        raise typer.Exit(EXIT_NEGATIVE)
