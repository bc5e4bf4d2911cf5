"""What a synthesis ends with: all stages with a live view, the report, the tables, and the exit code."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import typer

from arena.commands.exit_codes import EXIT_NEGATIVE, EXIT_PROVIDER
from arena.exports import watching
from arena.matches.tournament import Progress, TournamentResult
from arena.pages import run_page
from arena.pipeline import speed
from arena.pipeline.synthesis import Outcome, SynthesisRun, stored_matches
from arena.report import arena_view, run_report, run_tables, tables
from arena.report.data import ReportData
from arena.runs import inputs as run_inputs
from arena.runs.folder import INPUTS, read_bundle, read_result
from arena.runs.inputs import Inputs
from arena.runs.settings import RunSettings
from arena.runs.turns import Among
from arena.terminal import console
from arena.terminal.live_view import LiveView
from cwm.functions.vectors import VectorResult
from cwm.llm.caps import Caps
from cwm.record.record import RunRecord
from cwm.storage import stored_json
from cwm.storage.files import json_line, write_whole
from cwm.storage.journal import RunCorruptError
from cwm.storage.keys import content_key

END_FILE: Final = "end.json"
"""Written last, in a run's folder."""


@dataclass(frozen=True)
class RunEnd:
    """How all stages of a run ended; kept in its folder.

    Attributes:
        asked: content key of what the run was asked for since it began (`cwm faster`).
        cap: the cap that ended its calls, None if none did.
        exact: whether the model passes every training test.
        message: how the synthesis ended, in words.
        without_vectors: why no vectors of observations were found, None if some were or nobody asked.
    """

    asked: str
    cap: str | None
    exact: bool
    message: str
    without_vectors: str | None

    @classmethod
    def of(cls, folder: Path, settings: RunSettings, outcome: Outcome) -> "RunEnd":
        """Returns how a run ended that came to `outcome`."""
        vectors = outcome.beside.chosen.get("vectors")
        missing = isinstance(vectors, VectorResult) and vectors.chosen is None
        return cls(
            _asked(folder, settings),
            outcome.cap_reached(settings),
            outcome.exact,
            outcome.synthesis.message,
            vectors.message if vectors is not None and missing else None,
        )


@dataclass(frozen=True)
class Finished:
    """A run all of whose stages are done.

    Attributes:
        end: how they ended.
        report: what its page shows.
    """

    end: RunEnd
    report: ReportData


def stored_end(folder: Path, settings: RunSettings) -> RunEnd | None:
    """Returns how a run ended whose result and model lie in its folder; None if there is something left to do.

    A cap may have been raised since it was reached, and `cwm faster` may have asked for more.
    """
    try:
        end = stored_json.read_if_there(folder / END_FILE, stored_json.exactly(RunEnd), RunCorruptError, "delete it")
        there = bool(read_result(folder)) and read_bundle(folder) is not None
    except RunCorruptError:
        return None
    if end is None or not there or end.cap is not None or end.asked != _asked(folder, settings):
        return None
    return end


def _asked(folder: Path, settings: RunSettings) -> str:
    asked = speed.asked_of(folder, settings)
    return content_key(None if asked is None else asdict(asked))


def complete(
    record: RunRecord,
    settings: RunSettings,
    inputs: Inputs,
    caps: Caps,
    workers: int,
    recording: Path | None,
    live: LiveView,
    among: Among | None = None,
) -> Finished:
    """Runs all stages and writes the report; prints no table. A run that ended is not run again.

    Args:
        record: the run's folder, open for writing.
        settings: as stored.
        inputs: rules and games.
        caps: hard limits.
        workers: processes at once.
        recording: file that every answer is added to, None for none.
        live: shows what happens.
        among: what the run shares with those beside it, None if there are none.
    """
    end = stored_end(record.folder, settings)
    # A recording takes the stored answers, too, as they are served again.
    if end is not None and recording is None:
        return Finished(end, write_stored_report(record, settings))
    run = SynthesisRun(record, settings, inputs, caps, workers, recording, live, live.stage, among)
    live.counts(run.spent)
    return run_stages(run, lambda state: live.progress("arena: game", state.done, state.total), live.stage)


@contextmanager
def told_where(folder: Path) -> Iterator[None]:
    """Says of work that breaks off where it is kept and what goes on with it."""
    try:
        yield
    except BaseException:
        console.notices.print(f"what was finished is kept in {folder}; `cwm resume {folder}` goes on")
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
    report = _write_report(record, settings, run.inputs, matches)
    end = RunEnd.of(record.folder, settings, outcome)
    write_whole(record.folder / END_FILE, json_line(asdict(end)) + "\n")
    return Finished(end, report)


def stored_report(record: RunRecord, settings: RunSettings) -> ReportData:
    """Returns the report of what a run has finished so far; nothing is asked, played, tested or written."""
    return _report(record, settings, *_stored(record, settings))


def write_stored_report(record: RunRecord, settings: RunSettings) -> ReportData:
    """Writes page and tables of what a run has finished so far; nothing is asked, played or tested."""
    return _write_report(record, settings, *_stored(record, settings))


def _stored(record: RunRecord, settings: RunSettings) -> tuple[Inputs, TournamentResult | None]:
    inputs = run_inputs.load(record.folder / INPUTS, settings)
    return inputs, stored_matches(record.folder, settings, inputs, read_bundle(record.folder))


def _report(record: RunRecord, settings: RunSettings, inputs: Inputs, matches: TournamentResult | None) -> ReportData:
    shown = arena_view.of(inputs.game, matches)
    return run_report.build(record, settings, shown.arenas, shown.replays, inputs)


def _write_report(
    record: RunRecord, settings: RunSettings, inputs: Inputs, matches: TournamentResult | None
) -> ReportData:
    report = _report(record, settings, inputs, matches)
    watched = watching.of(inputs.game, () if matches is None else matches.records)
    run_page.write(report, record.report_path, watched)
    run_tables.write(record, report)
    return report


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
    with told_where(record.folder), LiveView(console.notices) as live:
        done = complete(record, settings, inputs, caps, workers, recording, live)
    if as_json:
        message = done.end.cap or done.end.message
        about = {"run": str(record.folder), "sandbox": settings.level, "message": message}
        console.print_json(read_result(record.folder) | about)
    else:
        console.out.print(tables.report(done.report))
    console.notices.print(f"run: {record.folder}   report: {record.report_path}")
    leave(record.folder, done.end.cap, done.end.exact)
    if done.end.without_vectors is not None:
        console.notices.print(f"the model has no vectors of observations: {done.end.without_vectors}", markup=False)
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
