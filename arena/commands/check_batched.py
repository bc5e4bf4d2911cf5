"""`cwm games check-batched`: whole games on the batched environment and on the reference, side by side."""

import time
from typing import Annotated, Any, Final

import typer

from arena.commands.exit_codes import EXIT_NEGATIVE
from arena.machine import accelerated
from arena.terminal import console
from arena.terminal.options import AsJson, Seed
from arena.usage import UsageError
from games.batched import registry
from games.batched.differential import DifferentialReport

SECONDS_BETWEEN_NOTICES: Final = 10.0


def command(
    games: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[GAME]...", help="Ids of batched games; default: all that need no extra beside batched."
        ),
    ] = None,
    count: Annotated[int, typer.Option("--games", min=1, help="Games of each; they run in hundreds.")] = 100_000,
    first: Annotated[
        int, typer.Option("--from", min=0, help="Begin with this game, where an earlier check ended.")
    ] = 0,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Play random games on batched games and on their references, and compare every mask, observation and payment."""
    chosen = games or [game_id for game_id in registry.ids() if _is_usual(registry.describe(game_id))]
    if first >= count:
        raise UsageError(f"--from {first} leaves none of --games {count} to compare; give a smaller number.")
    entries = [registry.describe(game_id) for game_id in chosen]
    found = []
    for game_id, entry in zip(chosen, entries, strict=True):
        if entry.differential is None:
            raise UsageError(
                f"{game_id} comes from JaxMARL and has no reference here to be compared with: leave it out."
            )
        report = _compared(accelerated.load(entry.differential), game_id, count, first, seed)
        found.append({"game": game_id, "games": report.games, "steps": report.steps, "wins": report.wins})
        found[-1]["differences"] = report.differences
        if not as_json:
            console.out.print(_line(game_id, report))
    if as_json:
        console.print_json(found)
    if any(item["differences"] for item in found):
        raise typer.Exit(EXIT_NEGATIVE)


def _is_usual(entry: registry.BatchedEntry) -> bool:
    return entry.differential is not None and not entry.extra


def _line(game_id: str, report: Any) -> str:
    counted = f"{game_id}: {report.games:,} games, {report.steps:,} steps, {report.wins:,} won"
    if not report.differences:
        return f"{counted}: no difference"
    return "\n  ".join([f"{counted}: batched and reference differ", *report.differences])


def _compared(differential: Any, game_id: str, count: int, first: int, seed: int) -> Any:
    """Compares and says now and then how far it is; a check that is interrupted says how to go on."""
    noticed = time.monotonic()
    begin = first - first % differential.BATCH
    report = DifferentialReport()
    try:
        for report in differential.compare_in_batches(game_id, count, seed, first):
            if time.monotonic() - noticed > SECONDS_BETWEEN_NOTICES:
                noticed = time.monotonic()
                console.notices.print(f"{game_id}: {begin + report.games:,} of {count:,} games compared")
    except KeyboardInterrupt:
        console.notices.print(f"{_line(game_id, report)} so far; --from {begin + report.games} goes on.")
        raise
    return report
