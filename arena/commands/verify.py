"""`cwm verify`: play every stored game again through the true rules, and derive the standings anew."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.exit_codes import EXIT_NEGATIVE
from arena.evaluation import arena_games
from arena.evaluation.verified_run import verify_run
from arena.exports import game_files
from arena.matches import store
from arena.matches.game_source import is_model
from arena.matches.verification import Problem, VerifiedGames, verify_games
from arena.papers.cwm.tables import verifying
from arena.papers.cwm.tables.settings import ASKED_FILE
from arena.pipeline import matches as run_matches
from arena.pipeline import twin
from arena.report import arena_view
from arena.report.tables import arena_tables
from arena.runs.folder import KIND
from arena.runs.settings import RunSettings
from arena.terminal import bar, console
from arena.terminal.options import AsJson
from arena.usage import UsageError
from arena.yardstick import tasks
from cwm.record.record import RUN_FILE, RunRecord
from cwm.trajectories.recorded import write

SHOWN_PROBLEMS = 20


def command(
    run: Annotated[Path, typer.Argument(help="Folder of a tournament, of a run, or of rebuilt tables.")],
    export: Annotated[
        Path | None,
        typer.Option(
            "--export",
            help="Write the games to this file: .jsonl or .jsonl.gz, step by step as training games; .json or "
            ".parquet, game by game with seats, forfeits and times.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a tournament, or a run and its matches, against the true rules; nothing is changed, asked or played."""
    if export is not None:
        game_files.check(export)
    if (run / ASKED_FILE).exists():
        _verify_paper(run, export, as_json)
        return
    problems, games = _checked(run)
    if export is not None and games is None:
        raise UsageError(f"{run} holds no games that could be written to {export}: its matches were not played.")
    if as_json:
        console.print_json(_document(problems, games))
    else:
        _print(problems, games)
    if export is not None and games is not None:
        _export(export, run, games)
    if problems:
        raise typer.Exit(EXIT_NEGATIVE)


def _export(file: Path, run: Path, games: VerifiedGames) -> None:
    if not game_files.holds_steps(file):
        game_files.write(file, games.records)
        console.notices.print(f"{len(games.records)} games: {file}")
        return
    place = run if (run / store.FILE_NAME).exists() else run / run_matches.FOLDER
    played = arena_games.of_folder(place)
    write(file, played)
    without_end = len(games.records) - len(played)
    left_out = f"; {without_end} that somebody forfeited are left out" if without_end else ""
    console.notices.print(f"{len(played)} games: {file}{left_out}")


def _verify_paper(run: Path, export: Path | None, as_json: bool) -> None:
    """Checks everything behind rebuilt tables of the CWM paper."""
    if export is not None:
        raise UsageError(f"{run} holds many tournaments; give the folder of one of them with --export.")
    found = verifying.verify(run)
    if as_json:
        console.print_json(asdict(found))
    else:
        console.out.print(f"{found.syntheses} syntheses, {found.tournaments} tournaments, {found.games} games")
        _print_problems(found.problems)
    if found.problems:
        raise typer.Exit(EXIT_NEGATIVE)


def _checked(run: Path) -> tuple[list[Problem], VerifiedGames | None]:
    if (run / store.FILE_NAME).exists():
        games = verify_games(run)
        return list(games.problems), games
    if not (run / RUN_FILE).exists():
        raise UsageError(f"{run} holds neither a tournament nor a run; give the folder of one.")
    with RunRecord.read(run) as record:
        if record.info.kind == tasks.KIND:
            raise tasks.no_single_run(run)
        if record.info.kind != KIND:
            raise UsageError(f"{run} holds a run of kind {record.info.kind!r}, which has no games to verify.")
        problems = [*verify_run(record), *_twin_problems(run, record)]
    matches = run / run_matches.FOLDER
    if not (matches / store.FILE_NAME).exists():
        return problems, None
    games = verify_games(matches)
    return [*problems, *games.problems], games


def _twin_problems(run: Path, record: RunRecord) -> list[Problem]:
    """Repeats the proof of the model's twin, if it has one."""
    if not twin.is_there(run):
        return []
    level = RunSettings.from_record(record.info.config).level
    with bar.counted_bar("twin", "proving the twin again") as show:
        return twin.verify(run, level, show, lambda text: console.notices.print(console.plain(text), markup=False))


def _document(problems: list[Problem], games: VerifiedGames | None) -> dict[str, object]:
    found: dict[str, object] = {"problems": [{"place": item.place, "message": item.message} for item in problems]}
    if games is None:
        return found | {"games": 0}
    return found | {
        "games": len(games.records),
        "planned": games.planned,
        "unfinished": games.unfinished,
        "faults": games.result.faults,
        "standings": games.result.table.to_json(),
    }


def _print(problems: list[Problem], games: VerifiedGames | None) -> None:
    if games is None:
        console.out.print("no games are stored: only the program and its tests were looked at")
    else:
        for table in arena_tables(arena_view.view("Derived from the stored games", games.config, games.result)):
            console.out.print(table)
        agreeing = len(games.result.records)
        rules = "the model that decides them" if is_model(games.config.game) else "the true rules"
        console.out.print(
            f"{agreeing} of {len(games.records)} stored games agree with {rules}; "
            f"{games.unfinished} of {games.planned} are still to be played; "
            f"{sum(games.result.faults.values())} attempts broke through a fault of ours and were not scored"
        )
    if games is not None and not games.records and not problems:
        console.out.print("nothing to verify: no game was finished yet")
        return
    _print_problems(problems)


def _print_problems(problems: Sequence[Problem]) -> None:
    for problem in problems[:SHOWN_PROBLEMS]:
        console.notices.print(f"{problem.place}: {console.plain(problem.message)}")
    if len(problems) > SHOWN_PROBLEMS:
        console.notices.print(f"and {len(problems) - SHOWN_PROBLEMS} more")
    console.out.print("verified" if not problems else f"NOT verified; problems: {len(problems)}")
